package clientfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/safefile"
)

// leaveLogins leaves the servers alone that the client has logged in to: behind belay it would not log in any more.
func (f *File) leaveLogins() {
	var stores []*node
	for i := range f.Entries {
		e := &f.Entries[i]
		if !e.Remote || e.State != Direct {
			continue
		}
		if stores == nil {
			stores = f.Client.Remote.readLogins()
		}
		for _, store := range stores {
			if store.hasLogin(e.Name, e.URL, 0) {
				e.State, e.Why = Unfit, fmt.Sprintf("is one that %s has logged in to, which belay cannot do", f.Client.Name)
			}
		}
	}
}

// readLogins reads the files with logins, as far as there are some.
func (r *Remote) readLogins() (stores []*node) {
	stores = []*node{}
	for _, place := range r.Logins {
		path, _, err := place.path()
		if err != nil {
			continue
		}
		text, err := safefile.ReadRegular(path, maxFile)
		if err != nil {
			continue
		}
		if store, _, err := parseJSON(text, false); err == nil {
			stores = append(stores, store)
		}
	}
	return stores
}

// maxLoginDepth is how deep clients nest what they keep of a server.
const maxLoginDepth = 3

// hasLogin reports whether there is something about a server. Clients keep it under its name, some with a hash behind it
// (github|0a1b), or with the name or the URL in it.
func (n *node) hasLogin(name, url string, depth int) bool {
	if depth > maxLoginDepth {
		return false
	}
	for _, m := range n.members {
		named := m.key == name || strings.HasPrefix(m.key, name+"|")
		if named && m.value.kind == kindObject || m.value.kind == kindText && (m.value.text == url || m.key == "serverName" && m.value.text == name) ||
			m.value.hasLogin(name, url, depth+1) {
			return true
		}
	}
	return slices.ContainsFunc(n.items, func(item *node) bool { return item.hasLogin(name, url, depth+1) })
}
