package relay

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// calls are the requests that the server has not answered, and the ids that they go by.
type calls struct {
	byID    map[string]*call      // sent to the server or waiting, by the id on the wire
	byToken map[string]*call      // of those sent, the ones that asked for progress
	listens map[string]*listening // by the client's id; they stay when their server ends
	late    map[string]string     // the ids that were given up, and their progress tokens
	made    int                   // ids that we have made
}

// listening is a subscriptions/listen request that is open.
type listening struct {
	call  *call
	again bool // it has been sent again: the client has the acknowledgement already
}

// maxLate bounds the ids that were given up.
const maxLate = 10000

func newCalls() *calls {
	return &calls{byID: map[string]*call{}, byToken: map[string]*call{}, listens: map[string]*listening{}, late: map[string]string{}}
}

// add notes a call that waits, sent one that the server gets.
func (c *calls) add(k *call) { c.byID[k.wire] = k }

func (c *calls) sent(k *call) {
	c.add(k)
	if k.token != "" {
		c.byToken[k.token] = k
	}
	if k.listens && c.listens[k.id] == nil {
		c.listens[k.id] = &listening{call: k}
	}
}

// holds says whether a call still is one: it may have been answered or cancelled meanwhile.
func (c *calls) holds(k *call) bool { return c.byID[k.wire] == k }

// forget removes a call that is over.
func (c *calls) forget(k *call) {
	delete(c.byID, k.wire)
	if k.token != "" && c.byToken[k.token] == k {
		delete(c.byToken, k.token)
	}
	delete(c.listens, k.id)
}

// suspend removes what listens until it is sent again.
func (c *calls) suspend(k *call) { delete(c.byID, k.wire) }

// giveUp remembers that the server may still answer, and that the answer is to be dropped.
func (c *calls) giveUp(k *call) {
	if len(c.late) >= maxLate {
		clear(c.late)
	}
	c.late[k.wire] = k.token
}

// gaveUp says whether a progress token belongs to a call that was given up.
func (c *calls) gaveUp(token string) bool {
	for _, t := range c.late {
		if t == token && t != "" {
			return true
		}
	}
	return false
}

// answered takes out the call that a response belongs to; nil if no call waits for it.
func (c *calls) answered(id string) *call {
	k := c.byID[id]
	if k == nil || k.waits() {
		delete(c.late, id)
		return nil
	}
	c.forget(k)
	return k
}

// at is the call that a server has under an id; nil if it has none.
func (c *calls) at(generation int, id string) *call {
	if k := c.byID[id]; k != nil && k.generation == generation && !k.waits() {
		return k
	}
	return nil
}

// find is the call of the client with that id.
func (c *calls) find(id string) *call {
	if k := c.byID[id]; k != nil && k.id == id {
		return k
	}
	for _, k := range c.byID {
		if k.id == id {
			return k
		}
	}
	return nil
}

// busy says whether the client waits for an answer.
func (c *calls) busy() bool {
	for _, k := range c.byID {
		if k.id != "" && !k.listens && !k.cancelled {
			return true
		}
	}
	return false
}

// extend gives all calls their time anew: the server has waited for the client.
func (c *calls) extend(now time.Time) {
	for _, k := range c.byID {
		if !k.waits() {
			k.extend(now)
		}
	}
}

func (c *calls) overdue(now time.Time) (due []*call) {
	for _, k := range c.byID {
		if !k.due.IsZero() && !now.Before(k.due) {
			due = append(due, k)
		}
	}
	return due
}

// inOrder is what was asked first, first.
func (c *calls) inOrder() []*call {
	return slices.SortedFunc(maps.Values(c.byID), func(a, b *call) int { return a.timing.sent.Compare(b.timing.sent) })
}

// newID makes an id that the other side has not seen.
func (c *calls) newID(kind string) string {
	c.made++
	return `"belay-` + kind + `-` + strconv.Itoa(c.made) + `"`
}

// ask is a request of the server to the client.
type ask struct {
	id         string // as the server wrote it
	method     string
	generation int
}

// asks are those that the client has not answered, by the id that it sees.
type asks map[string]ask

// waiting says whether the server waits for the client. Pings it sends at any time.
func (a asks) waiting() bool {
	for _, one := range a {
		if one.method != "ping" {
			return true
		}
	}
	return false
}
