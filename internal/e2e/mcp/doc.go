// Package mcp holds tests that put `belay mcp` between real MCP clients and real servers that fail in every way there is.
package mcp
