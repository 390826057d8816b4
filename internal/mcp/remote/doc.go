// Package remote speaks to MCP servers over HTTP, for a proxy of package mcp: streamable HTTP, which there is since 2025-03-26,
// and the HTTP+SSE of 2024-11-05 before it.
//
// What can be relied on:
//
//   - Each request that the proxy sends is answered, or reported lost, once.
//   - A request that has not reached the server is sent again for a few seconds: servers are restarted. One that the server
//     refuses for now (429, 503) is sent again up to three times, when the server says so, within the time that the call has.
//   - A stream that breaks off is resumed where the server lets that be done.
//   - No header's value and no query is in an error, and nothing is sent to another origin than that of the URL.
//
// A [Server] makes connections. Each is one session with the server, and sends each message in an exchange of its own: in turn, as often as it takes
// to reach the server, and back with the answer, which may be all of the response, come in a stream of events, or come on another stream. A
// server that turns out to speak HTTP+SSE is spoken to in that.
package remote
