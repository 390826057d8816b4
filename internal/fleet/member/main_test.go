//go:build unix

package member_test

import (
	"os"
	"testing"

	"github.com/belay-run/belay/internal/fleet/fleettest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(shipVar); dir != "" {
		shipForever(dir, os.Getenv(shipDSN))
	}
	fleettest.Main(m)
}
