// Package metrics says in Prometheus' text format what is on record: the sums of all that was ever folded, which prune leaves
// alone, and what is running and closed right now. [Collect] gathers it, [Snapshot.Text] writes it down, and [Handler] serves it.
package metrics

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/version"
)

// Snapshot is what there is to say at one time.
type Snapshot struct {
	Version string
	Since   time.Time // when the first of what was counted began; zero if there is nothing
	Meters  []record.Meter
	Running []Running
	Gates   []Gate
	Limits  []overview.Limit
}

// Running is how many runs of a profile are in a state.
type Running struct {
	Profile, State string
	Runs           int
}

// Gate is one that keeps runs out, or has done so until now.
type Gate struct {
	Key        string
	Held, Open bool // on hold; the breaker is not closed
	Waiting    int  // runs
}

// Collect gathers what the record and the state directory say. What of the state cannot be read is left out.
func Collect(ctx context.Context, d *record.DB, s *state.State) (snap Snapshot, err error) {
	snap.Version = version.String()
	if snap.Meters, snap.Since, err = d.Stats.Meters(ctx); err != nil {
		return snap, err
	}
	records, err := s.Records().List()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return snap, err
	}
	snap.Running = running(records)
	gates, limits, err := overview.Gates(s)
	for _, g := range gates {
		if !g.Full { // which is healthy
			snap.Gates = append(snap.Gates, Gate{g.Key, g.State.Hold.Live(time.Now()), g.State.Breaker.Phase != breaker.Closed, len(g.Waiting)})
		}
	}
	snap.Limits = limits
	return snap, err
}

func running(records []supervise.Record) (list []Running) {
	for _, r := range records {
		if !r.IsRun() {
			continue
		}
		at := slices.IndexFunc(list, func(known Running) bool { return known.Profile == r.Profile && known.State == r.State })
		if at < 0 {
			at = len(list)
			list = append(list, Running{Profile: r.Profile, State: r.State})
		}
		list[at].Runs++
	}
	return list
}

// Handler serves the text that collect gathers, to those who have the token: "Authorization: Bearer TOKEN". The token is asked for at
// each request, so that it can be changed; with an empty one, or an error, all requests are refused.
func Handler(collect func(context.Context) (Snapshot, error), token func() (string, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
			return
		}
		want, err := token()
		given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if err != nil || want == "" || !bearer || !same(given, want) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="belay"`)
			http.Error(w, http.StatusText(http.StatusUnauthorized), http.StatusUnauthorized)
			return
		}
		snap, err := collect(r.Context())
		if err != nil {
			http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", ContentType)
		w.Header().Set("Cache-Control", "no-store")
		w.Write(snap.Text())
	})
}

// same compares two secrets in a time that tells nothing of them.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
