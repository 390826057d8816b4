// Package mcp stands between an MCP client and its server, on stdio, and brings the server back when it crashes or hangs.
//
// A [Proxy] carries messages as they are: of each line it reads only the envelope (id, method, and the few fields that say
// which tool or progress is meant), never arguments or results, and it forwards the very bytes. As long as all is well
// a client sees no difference but one word: the proxy promises listChanged, because it announces what a new server
// brings along.
//
// What can be relied on:
//
//   - Every request is answered exactly once, whatever becomes of the server. A tool's call that is lost is a result with
//     isError, which models get to see, with the exit status and the end of stderr; any other is a JSON-RPC error.
//   - A server that ends while its client is there is started again, with a back-off that is over when one has worked.
//     A session of up to 2025-11-25 is opened anew without the client's help (initialize, initialized, log level,
//     subscriptions); from 2026-07-28 on only what the client listens to has to be.
//   - A call is sent twice only if that is safe: what lists, reads or completes, or a tool that the server has declared
//     read-only or idempotent. What takes too long is cancelled at the server, and its late answer goes nowhere.
//   - What a server prints to stdout that is no message goes to stderr, and what a client sends that is none never gets to
//     the server: either would end most connections.
//   - Whatever the server does, the proxy stays. When the client leaves, the server's whole tree is ended.
//
// What becomes of each message is decided by package relay, a state machine without pipes, processes and locks: (line of the client,
// line of the server, start, death, time) → lines. Package wire reads the lines. This package is what is around them: a [Proxy] reads the
// client's lines and gives them to the relay; its outlets do what the relay says; serve runs a process, and connect a connection to a server
// that runs elsewhere, which package remote has for HTTP. They share one state, with one lock.
package mcp
