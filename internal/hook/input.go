package hook

import (
	"bytes"
	"os"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/supervise"
)

// maxHead is how much of the input is kept to tell later what the hook was called for. Clients put that first.
const maxHead = 64 << 10

// input passes the client's stdin on to the command.
type input struct {
	child    *os.File // what the command gets
	terminal bool

	client, write *os.File      // set if it flows through us
	file          *os.File      // set if it can be read again
	read          chan struct{} // closed when it has been read

	mu   sync.Mutex
	head []byte
}

// openInput decides how the command gets its input. What can be read only once flows through us, since a failure should
// say what it was a failure of.
func openInput(client *os.File) (*input, error) {
	if client == nil {
		return &input{}, nil
	}
	in := &input{child: client}
	info, err := client.Stat()
	switch {
	case err != nil:
		in.child = nil // it is closed
	case info.Mode().IsRegular():
		in.file = client
	case supervise.IsTerminal(client):
		in.terminal = true
	case info.Mode()&os.ModeCharDevice != 0:
	default:
		if in.child, in.write, err = os.Pipe(); err != nil {
			return nil, err
		}
		in.client = client
	}
	return in, nil
}

// started is called when the command has its end of it, or never will.
func (in *input) started() {
	if in.client == nil || in.read != nil {
		return
	}
	in.child.Close()
	in.read = make(chan struct{})
	go in.copy()
}

// copy passes the input on. Run does not wait for it to end: the client may never close its end, nor the command ever
// read. What the command does not read is read all the same, so that the client does not get an error.
func (in *input) copy() {
	defer close(in.read)
	defer in.write.Close()
	buf := make([]byte, 32<<10)
	for wanted := true; ; {
		n, err := in.client.Read(buf)
		in.keep(buf[:n])
		if n > 0 && wanted {
			_, werr := in.write.Write(buf[:n])
			wanted = werr == nil
		}
		if err != nil {
			return
		}
	}
}

func (in *input) keep(data []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.head = append(in.head, data[:min(len(data), maxHead-len(in.head))]...)
}

// inputTimeout is how long to wait for input that the client has not written yet. The command has ended by then.
const inputTimeout = 200 * time.Millisecond

// begin is the beginning of what the client has sent.
func (in *input) begin() []byte {
	switch {
	case in == nil:
		return nil
	case in.file != nil:
		head := make([]byte, maxHead)
		n, _ := in.file.ReadAt(head, 0)
		return head[:n]
	case in.client != nil:
		in.started()
		select {
		case <-in.read:
		case <-time.After(inputTimeout):
		}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return bytes.Clone(in.head)
}

func (in *input) close() {
	if in.client != nil {
		in.child.Close()
	}
}
