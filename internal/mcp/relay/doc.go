// Package relay decides what becomes of each message between an MCP client and its server. It is the core of package mcp: a state machine
// without pipes, processes and locks. What comes in are lines of both sides, the start and the death of servers, and the time; what goes out are
// lines and calls of [Outlets].
//
// A request of the client becomes a call. While all is well it goes to the server as it was written, and so does the answer to the client.
// Whatever else happens, each is answered exactly once:
//
//   - With no server that takes it, it waits in the outbox, and a server is started.
//   - With a server that dies, it is sent again if that is safe, and else answered in the server's place: a tool's call with a result that
//     says isError, which models get to see, any other with an error.
//   - Without an answer in time, it is answered in the server's place and cancelled, and the server is asked for a sign of life.
//
// What is known stands in values, each of which has rules of its own and knows of no other part:
//
//   - calls: the requests without an answer, and the ids that they go by. asks: those of the server.
//   - life: which server runs, or when the next is started, and how those before it ended.
//   - session: what the client has told its server, and has to be told the next one.
//   - tools: which calls are safe to repeat.
//   - admission: what the gate is asked and told.
//   - leaving, alarm: the end, and when to wake up.
//
// What is done stands above them, in this order: report answers the client in the server's place and puts incidents on record; outbox sends
// what waits; repeats sends a call again; succession opens the session anew with the next server and tells the client which lists have changed;
// server has servers started and ended, and settles what their deaths mean for each call; losses does so for single requests to a remote server;
// deadlines does what is due; client and replies take the lines of the two sides. [Relay] hands each event to one of these, and then ends if
// the client has left and waits for nothing.
package relay
