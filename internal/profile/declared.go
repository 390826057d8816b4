package profile

import (
	"slices"
	"sync/atomic"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/generic"
)

// own are the CLIs that the user's file declares; nil, as nearly always, if it declares none. Only the command reads
// that file, so a program that uses the library has none.
var own atomic.Pointer[[]*agent.Descriptor]

// Declare makes the CLIs known that the user's file declares, in place of those that it declared before.
func Declare(list []*agent.Descriptor) {
	if len(list) == 0 {
		own.Store(nil)
		return
	}
	own.Store(&list)
}

func declared() []*agent.Descriptor {
	if list := own.Load(); list != nil {
		return *list
	}
	return nil
}

// IsBuiltIn reports whether a name belongs to a profile which no file can declare.
func IsBuiltIn(name string) bool {
	return name == generic.Name || slices.ContainsFunc(registry, func(d *agent.Descriptor) bool { return d.Name == name })
}
