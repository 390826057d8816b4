package member

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/fleet/merge"
	"github.com/belay-run/belay/internal/safefile"
)

// What both sides last agreed upon is also kept on disk. Without it, a member that starts could not tell a hold that was reset here from one that is new
// elsewhere, and would undo the reset.

// agreedFile is where that is, and maxAgreed how large it may be.
const (
	agreedFile = "fleet-gates.json"
	maxAgreed  = 16 << 20
)

// agreement is what is kept.
type agreement struct {
	Fleet string                   `json:"fleet"` // with which it was agreed
	Gates map[string]agreementGate `json:"gates"`
}

type agreementGate struct {
	Base  gate.State `json:"base"`
	Local gate.State `json:"local"`
}

func (s *session) agreedPath() string { return filepath.Join(s.State.Dir, agreedFile) }

// recall reads what an earlier process of this machine has agreed upon. A file that cannot be read, or is of another fleet, is ignored.
func (s *session) recall(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	settings, err := s.store.Settings(ctx)
	if err != nil || s.kept.fleet == settings.ID {
		return err
	}
	if s.kept.fleet != "" { // another fleet, with which nothing was agreed upon
		clear(s.kept.gates)
	}
	s.kept.fleet = settings.ID
	data, err := safefile.ReadOwn(s.agreedPath(), maxAgreed)
	var kept agreement
	if err != nil || json.Unmarshal(data, &kept) != nil || kept.Fleet != settings.ID {
		return nil
	}
	for key, g := range kept.Gates {
		if s.kept.gates[key] == nil {
			s.kept.gates[key] = &shared{base: g.Base, local: g.Local, recalled: true}
		}
	}
	return nil
}

// keepAgreed writes down what was agreed upon, if that has changed.
func (s *session) keepAgreed() {
	if !s.kept.news {
		return
	}
	s.kept.news = false
	all := agreement{s.kept.fleet, map[string]agreementGate{}}
	for key, known := range s.kept.gates {
		if !merge.Same(known.base, gate.State{}) {
			all.Gates[key] = agreementGate{known.base, known.local}
		}
	}
	data, err := json.Marshal(all)
	if err == nil {
		err = atomicfile.Write(s.agreedPath(), ".fleet-gates-*", data)
	}
	s.gates.trouble(err)
}
