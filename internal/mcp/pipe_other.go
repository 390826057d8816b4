//go:build !linux

package mcp

func widenPipe(any) {}
