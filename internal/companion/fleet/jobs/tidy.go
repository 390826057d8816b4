package jobs

import (
	"context"
	"time"

	"github.com/belay-run/belay/internal/companion/fleet/store"
)

// tidyEvery is how often workers delete archives that no job needs any more. The submitter does it at its end, unless it was killed.
const tidyEvery = time.Minute

// tidy deletes archives that are not needed any more, here and in PostgreSQL. What fails is done the next time.
func (w *Worker) tidy(ctx context.Context) {
	if time.Since(w.tidied) < tidyEvery {
		return
	}
	w.tidied = time.Now()
	w.archives.forget()
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	w.Store.Pool.Exec(ctx, store.DropArchives, "")
}
