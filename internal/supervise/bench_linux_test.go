package supervise_test

import (
	"testing"

	"github.com/belay-run/belay/internal/supervise"
)

// The healthy path is what every call pays for.
func BenchmarkRun_True(b *testing.B) {
	spec := supervise.Spec{Path: "/bin/true", Args: []string{"true"}, RunID: newID()}
	for _, name := range []string{"Library", "Owner"} {
		b.Run(name, func(b *testing.B) {
			s := &supervise.Supervisor{}
			if name == "Owner" {
				s = own(b)
			}
			for b.Loop() {
				if _, err := s.Run(spec, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
