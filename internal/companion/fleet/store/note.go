package store

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"
)

// The kinds of notes.
const (
	NoteGate     = "gate"
	NoteSlot     = "slot" // one is wanted
	NoteSlotFree = "slot-free"
	NoteBudget   = "budget"
	NoteMachine  = "machine"
)

// Note is what members tell each other: of what kind something has changed, by whom, and which one. An empty key stands for all. Any role that can connect to the
// database can send one, with anything in it. So a note only says where to look: what is so stands in the tables.
type Note struct {
	Kind    string `json:"kind"`
	Machine string `json:"machine"`
	Key     string `json:"key,omitempty"`
}

// maxPayload is less than what a notification can hold.
const maxPayload = 7900

// payload is the note as it is sent.
func (n Note) payload() string {
	data, err := json.Marshal(n)
	if err != nil || len(data) > maxPayload {
		data, _ = json.Marshal(Note{Kind: n.Kind, Machine: n.Machine})
	}
	return string(data)
}

// ParseNote reads what a notification holds. One that is not understood is the zero Note.
func ParseNote(payload string) (n Note) {
	if json.Unmarshal([]byte(payload), &n) != nil {
		return Note{}
	}
	return n
}

// notify tells the members, once the transaction is committed.
func notify(ctx context.Context, tx pgx.Tx, n Note) error {
	_, err := tx.Exec(ctx, "select pg_notify($1, $2)", Channel, n.payload())
	return err
}
