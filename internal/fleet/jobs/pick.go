package jobs

import (
	"context"

	"github.com/belay-run/belay/internal/fleet/files"
	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/message"
)

// picked are the files of a directory, found out once: all tasks of a batch that work in it get the same.
type picked struct {
	files *fleetpipe.Files
	err   error
}

// pick finds out which files the tasks need that are to be submitted next. If that fails at the start of the batch, nothing is submitted; later only the task fails.
func (f *follower) pick(ctx context.Context) error {
	ready := f.tasks[:0]
	for _, t := range f.tasks {
		if t.Pick == nil {
			ready = append(ready, t)
			continue
		}
		p, known := f.picks[*t.Pick]
		if !known {
			p.files, p.err = f.find(ctx, t.Pick)
			f.picks[*t.Pick] = p
		}
		switch {
		case p.err == nil:
			t.Job.Files, t.Pick = p.files, nil
			ready = append(ready, t)
		case !f.began:
			return p.err
		default:
			f.out.Encode(fleetpipe.Report{Result: &fleetpipe.Result{Task: t.ID, Hash: t.Hash, Outcome: fleetpipe.Outcome{Error: p.err.Error()}}})
		}
	}
	f.tasks = ready
	return nil
}

// find names the files of a directory. With --files archive it also packs them.
func (f *follower) find(ctx context.Context, p *fleetpipe.Pick) (*fleetpipe.Files, error) {
	if p.By == fleetpipe.ByGit {
		return files.Commit(ctx, p.Dir)
	}
	found, left, err := f.client.packages.keep(ctx, f.client, p.Dir, f.except)
	if len(left) > 0 {
		f.out.Encode(fleetpipe.Report{Say: message.FilesLeftOut(p.Dir, left[0], len(left)-1)})
	}
	return found, err
}
