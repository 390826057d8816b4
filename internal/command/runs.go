package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
)

// DescribeRun is what a run is completed with.
func DescribeRun(id, command string) string {
	return cobra.CompletionWithDesc(printable.Line(printable.ShortID(id)), printable.Line(command))
}

// ShortIDs are the ends of ids.
func ShortIDs(ids []string) []string {
	var short []string
	for _, id := range ids {
		short = append(short, printable.ShortID(id))
	}
	return short
}

// PickRun finds the one run that an id means.
func PickRun(runs []supervise.Record, id string) (supervise.Record, error) {
	return Pick(runs, id, func(r supervise.Record) string { return r.ID })
}

// Pick finds the one of these that an id means: all of it, or its beginning or end.
func Pick[T any](runs []T, id string, idOf func(T) string) (none T, err error) {
	found := slices.DeleteFunc(slices.Clone(runs), func(r T) bool {
		return id == "" || !strings.HasPrefix(idOf(r), id) && !strings.HasSuffix(idOf(r), id)
	})
	switch len(found) {
	case 0:
		return none, Usage(message.Error(message.NoRun(id)), message.See("belay ps"))
	case 1:
		return found[0], nil
	}
	return none, Usage(message.Error(message.SeveralRuns(len(found), id)), message.See("belay ps --json"))
}

// OpenState is the state directory, which need not exist.
func OpenState() (*state.State, error) {
	dir, err := state.DefaultDir()
	if err != nil {
		return nil, Fail(err)
	}
	own, _ := config.Prices() // a mistake in the file is not what is asked for here
	return &state.State{Dir: dir, Prices: own}, nil
}

// RunsNow returns the runs under way of this user's state.
func RunsNow() ([]supervise.Record, error) {
	state, err := OpenState()
	if err != nil {
		return nil, err
	}
	return Runs(state.Records())
}

// Runs returns the runs under way, oldest first.
func Runs(records supervise.Records) ([]supervise.Record, error) {
	runs, err := overview.Runs(records)
	return runs, Fail(err)
}

// ProcNames are processes, as they are named to the user.
func ProcNames(procs []supervise.Proc) (names []string) {
	for _, p := range procs {
		names = append(names, p.String())
	}
	return names
}
