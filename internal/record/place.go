package record

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/belay-run/belay/internal/record/database"
)

// Folded is what a fold has done.
type Folded struct {
	Lines int
	Torn  int // lines that a killed writer has left unfinished
}

// errMoved says that another process has folded meanwhile.
var errMoved = errors.New("another has folded")

// place is how far a log has been folded.
type place struct {
	position int64
	tail     string
	known    bool
}

func placeOf(ctx context.Context, q database.Querier, identity string) (p place, err error) {
	err = q.QueryRowContext(ctx, "SELECT position, tail FROM logs WHERE identity = ?", identity).Scan(&p.position, &p.tail)
	if errors.Is(err, sql.ErrNoRows) {
		return p, nil
	}
	p.known = err == nil
	return p, err
}

// movePlace puts on record that a piece has been folded.
func movePlace(ctx context.Context, conn *sql.Conn, identity, name, tail string, p piece) error {
	_, err := conn.ExecContext(ctx, `INSERT INTO logs (identity, name, position, tail, lines, torn, folded) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (identity) DO UPDATE SET name = excluded.name, position = excluded.position, tail = excluded.tail,
		lines = lines + excluded.lines, torn = torn + excluded.torn, folded = excluded.folded`,
		identity, name, p.to, tail, len(p.lines), p.torn, time.Now().UnixMilli())
	return err
}
