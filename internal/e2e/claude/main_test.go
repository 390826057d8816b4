//go:build linux

package claude_test

import (
	"testing"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/e2e/stage"
)

func TestMain(m *testing.M) { stage.Main(m) }

const answer = stage.Answer

var (
	full           = clitest.Full()
	each, newStage = stage.Claude.Each, stage.Claude.New
)
