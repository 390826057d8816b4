package fleet

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/fleet/jobs"
	"github.com/belay-run/belay/internal/fleet/store"
)

// keyVariable names the file with the key of the fleet.
const keyVariable = "BELAY_FLEET_KEY"

// keyFile is the file with the key of the fleet: that of the environment, or the one beside the user's settings.
func keyFile() string {
	return cmp.Or(os.Getenv(keyVariable), filepath.Join(filepath.Dir(config.UserFile()), "fleet.key"))
}

// findKey finds the key of the fleet.
func findKey(ctx context.Context, s *store.Store) (*jobs.Key, error) {
	key, err := jobs.FindKey(ctx, s, keyFile())
	if err != nil && !store.Unreachable(err) {
		err = &request.UsageError{Err: err}
	}
	return key, err
}

// openWithKey opens the fleet of a worker and finds its key.
func openWithKey(ctx context.Context, address *store.Address) (*store.Store, *jobs.Key, error) {
	s, err := store.Open(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	key, err := findKey(ctx, s)
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, key, nil
}
