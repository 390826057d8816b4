//go:build linux

package upgrade_test

import (
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

func TestMain(m *testing.M) { stage.Main(m, "cmd/belayd") }
