package gate_test

import (
	"path/filepath"
	"testing"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/gatetest"
)

func TestStore(t *testing.T) {
	for name, newStore := range map[string]func(*testing.T) gate.Store{
		"Memory": func(*testing.T) gate.Store { return &gate.Memory{} },
		"Files":  func(t *testing.T) gate.Store { return &gate.Files{Dir: filepath.Join(t.TempDir(), "gates")} },
	} {
		t.Run(name, func(t *testing.T) { gatetest.Run(t, newStore) })
	}
}
