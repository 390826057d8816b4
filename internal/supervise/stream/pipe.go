package stream

// pumpBuffer is how much is read from a pipe at a time, and how much a pipe is to hold where that can be said.
const pumpBuffer = 256 << 10
