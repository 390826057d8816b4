package fleet

import (
	"bufio"
	"encoding/json"
	"os"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/fleetpipe"
)

// pipe is belayd, which takes orders.
type pipe struct {
	orders *os.File
	done   chan struct{} // closed when belayd has ended

	// writing guards out, so that reports are read even while belayd does not take more orders.
	writing sync.Mutex
	out     *bufio.Writer
}

// send sends orders.
func (p *pipe) send(orders ...fleetpipe.Order) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	for i := range orders {
		if err := p.write(&orders[i]); err != nil {
			return err
		}
	}
	return p.out.Flush()
}

// write adds an order to those that are sent next.
func (p *pipe) write(o *fleetpipe.Order) error {
	data, err := json.Marshal(o)
	if err == nil {
		_, err = p.out.Write(append(data, '\n'))
	}
	return err
}

// close ends belayd.
func (p *pipe) close() {
	p.orders.Close()
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
	}
}
