// Package store is the PostgreSQL of a fleet: the connection, the tables with their migrations, and what is asked of them.
//
// Everything is in one schema, belay, River's tables too. All times in it are PostgreSQL's, so that the clocks of machines may be wrong.
// What a member writes is conditional on its generation in [Machine]: one that was frozen for too long cannot undo what others have done since.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
)

// Schema is the PostgreSQL schema that has all tables.
const Schema = "belay"

// Channel is what members listen to. A payload is a [Note].
const Channel = "belay"

// Errors that a caller can act upon. What is returned says in words what to do, and wraps one of these.
var (
	// ErrNotInitialised says that the database has no fleet yet.
	ErrNotInitialised = errors.New("no fleet in this database")
	// ErrOlder says that the schema has to be upgraded first.
	ErrOlder = errors.New("older schema")
	// ErrNewer says that the schema was made by a later Belay.
	ErrNewer = errors.New("newer schema")
	// ErrStale says that the generation of the machine is over.
	ErrStale = errors.New("the generation of this machine is over")
	// ErrNameTaken says that another machine is a member under this name.
	ErrNameTaken = errors.New("the name is taken")
	// errTold is in errors that say in words what is wrong.
	errTold = errors.New("told")
)

// Store is a connection to the fleet's PostgreSQL.
type Store struct {
	Pool    *pgxpool.Pool
	Address *Address
}

// Connect makes a pool, and checks that PostgreSQL answers.
func Connect(ctx context.Context, a *Address) (*Store, error) {
	pool, err := pgxpool.NewWithConfig(ctx, a.config.Copy())
	if err != nil {
		return nil, a.trouble(err)
	}
	s := &Store{Pool: pool, Address: a}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, a.trouble(err)
	}
	return s, nil
}

// Open is Connect for those who need the tables, as this Belay knows them.
func Open(ctx context.Context, a *Address) (*Store, error) {
	s, err := Connect(ctx, a)
	if err != nil {
		return nil, err
	}
	if err := s.check(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the connections.
func (s *Store) Close() { s.Pool.Close() }

// MemberListener is [Store.Listener] for a member, which is known to live for as long as it has the connection.
func (s *Store) MemberListener(ctx context.Context, id Identity) (*pgx.Conn, error) {
	conn, err := s.Listener(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "select pg_try_advisory_lock_shared("+lockOf+")", id.Name); err != nil {
		conn.Close(ctx)
		return nil, s.Trouble(err)
	}
	return conn, nil
}

// Listener makes the one connection that notifications come by.
func (s *Store) Listener(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, s.Address.config.ConnConfig.Copy())
	if err != nil {
		return nil, s.Address.trouble(err)
	}
	if _, err := conn.Exec(ctx, "listen "+Channel); err != nil {
		conn.Close(ctx)
		return nil, s.Address.trouble(err)
	}
	return conn, nil
}

// Collect returns the rows that a query answers with.
func Collect[T any](ctx context.Context, s *Store, row pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, _ := s.Pool.Query(ctx, sql, args...) // CollectRows returns the error
	list, err := pgx.CollectRows(rows, row)
	return list, s.Trouble(err)
}

// Trouble says in words what PostgreSQL could not do. What is ours already stays as it is.
func (s *Store) Trouble(err error) error { return s.Address.trouble(err) }

// Unreachable reports whether PostgreSQL could not be reached, so that waiting may help. It does not help if PostgreSQL has refused something, or if the host
// does not exist.
func Unreachable(err error) bool {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		// It is starting or stopping, has too many connections, or has given up on one that was silent in a transaction.
		return strings.HasPrefix(refused.Code, "57") || strings.HasPrefix(refused.Code, "53") || refused.Code == "25P03"
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return !dns.IsNotFound
	}
	_, network := errors.AsType[*net.OpError](err)
	return network || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// trouble says in words why PostgreSQL could not be used.
func (a *Address) trouble(err error) error {
	switch e, refused := errors.AsType[*pgconn.PgError](err); {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, errTold):
		return err
	case refused && e.Code == "42501": // insufficient_privilege
		return message.Error(fmt.Sprintf("PostgreSQL at %s refused: %s; the rights that a role needs: https://github.com/belay-run/belay/blob/main/docs/fleet.md", a.Text, redact.Text(e.Message)), err, errTold)
	case refused && (e.Code == "42P05" || e.Code == "26000"): // a prepared statement is there or not, as only a pooler makes it
		return message.Error(message.FleetPooler(a.Text), err, errTold)
	case refused:
		return message.Error(fmt.Sprintf("PostgreSQL at %s refused: %s", a.Text, redact.Text(e.Message)), err, errTold)
	}
	return message.Error(fmt.Sprintf("cannot reach PostgreSQL at %s: %s", a.Text, redact.Text(short(err))), err, errTold)
}

// short is the innermost cause: pgx names all addresses that it has tried, and the user.
func short(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
		return op.Err.Error()
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns.Error()
	}
	text := err.Error()
	if i := strings.LastIndex(text, "\n"); i >= 0 {
		text = text[i+1:]
	}
	return strings.TrimSpace(text)
}

// addressText names a server and a database.
func addressText(host string, port uint16, database string) string {
	if !strings.HasPrefix(host, "/") {
		host = net.JoinHostPort(host, strconv.Itoa(int(port)))
	}
	if database == "" {
		return host
	}
	return host + "/" + strings.TrimPrefix(database, "/")
}

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
