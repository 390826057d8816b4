package stream

import "os"

const fionread = 0x4004667f // FIONREAD, which the unix package does not name here

func openPipe() (r, w *os.File, err error) { return os.Pipe() }
