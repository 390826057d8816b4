package detach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/spool"
	"github.com/belay-run/belay/internal/stdio"
)

// Delivery is a spool that is being delivered.
type Delivery struct {
	std    stdio.Streams
	spools spool.Files
	id     string
	unseen bool // some of it went to a stream that is closed
}

// NewDelivery is the spool of a run, to be delivered to these streams.
func NewDelivery(std stdio.Streams, spools spool.Files, id string) *Delivery {
	return &Delivery{std: std, spools: spools, id: id}
}

// open opens the spool. Another attach may have shown all of it, and removed it, since it was found.
func (d *Delivery) open() (*spool.Reader, error) {
	r, err := d.spools.Open(d.id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, command.Usage(message.Error(fmt.Sprintf("the output of %s has been shown by another belay attach, and deleted", printable.ShortID(d.id)), err), "")
	case err != nil:
		return nil, command.Fail(err)
	}
	return r, nil
}

// remove removes the spool, unless there is something in it that was not shown.
func (d *Delivery) remove() {
	if !d.unseen {
		d.spools.Remove(d.id)
	}
}

// How often a spool is looked at: soon after something came, at most so long after. It is a file that grows; nothing is repeated that has failed.
const (
	soonest = 20 * time.Millisecond
	latest  = 250 * time.Millisecond
)

// Follow prints what a run has written and writes, until it is over, and removes the spool then. The error may be the cause of the context.
func (d *Delivery) Follow(ctx context.Context) (spool.Header, error) {
	r, err := d.open()
	if err != nil {
		return spool.Header{}, err
	}
	defer r.Close()
	for pause := soonest; ; pause = min(2*pause, latest) {
		h, err := r.Header() // before the rest is read: nothing comes after the end
		if err != nil {
			return h, command.Fail(err)
		}
		over := h.Over()
		copied, err := d.copy(r)
		if err != nil {
			return h, err
		}
		if over {
			d.remove()
			return r.Header()
		}
		if copied > 0 {
			pause = soonest
		}
		select {
		case <-ctx.Done():
			return h, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// Rest prints all that a run has written that is over, and removes the spool.
func (d *Delivery) Rest() error {
	r, err := d.open()
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := d.copy(r); err != nil {
		return err
	}
	d.remove()
	return nil
}

// copy passes on what is new.
func (d *Delivery) copy(r *spool.Reader) (int64, error) {
	n, err := io.Copy(d.std.Out, r.Stdout)
	if err != nil {
		return n, err
	}
	m, err := io.Copy(d.std.Err, r.Stderr)
	if err != nil {
		return n + m, command.Fail(err)
	}
	d.unseen = d.unseen || n > 0 && stdio.Closed(d.std.Out) || m > 0 && stdio.Closed(d.std.Err)
	return n + m, nil
}
