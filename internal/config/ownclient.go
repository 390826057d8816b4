package config

import (
	"path"
	"path/filepath"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/message"
)

// ownClient reads where a CLI has MCP servers: in a file of the user's below its home, and in one of a project. Nil if it does not say.
func ownClient(name, home, homeVar string, t *fields) *clientfile.Client {
	if len(t.table) == 0 {
		return nil
	}
	key := t.text("key")
	c := &clientfile.Client{Name: name, NoHooks: "belay does not know the hooks of " + name,
		Remote: clientfile.Remote{StdioType: t.text("stdio_type"), Headers: t.text("headers"), Env: "env", Bearer: t.text("bearer"), Own: t.texts("own")}}
	place := func(field string, p clientfile.Place) {
		file := t.text(field)
		switch {
		case file == "":
			return
		case !filepath.IsLocal(file):
			t.fail(field, message.Error("must be a path below a directory"))
			return
		case path.Ext(file) == ".toml":
			p.Format = clientfile.TOML
		}
		p.Kind, p.Keys, p.File = clientfile.Servers, []string{key}, file
		if p.Scope == clientfile.User {
			p.HomeFile = path.Join(home, file)
		}
		c.Places = append(c.Places, p)
	}
	place("file", clientfile.Place{Scope: clientfile.User, HomeVar: homeVar})
	place("project", clientfile.Place{Scope: clientfile.Project})
	switch {
	case key == "":
		t.fail("key", message.Error(message.Missing()))
	case len(c.Places) == 0:
		t.fail("file", message.Error(message.Missing()))
	case home == "":
		t.fail("file", message.Error("needs the home of the CLI"))
	}
	for _, kind := range t.rows("remote") {
		c.Remote.Kinds = append(c.Remote.Kinds, clientfile.RemoteKind{Key: kind.text("key"), Type: kind.text("type"), Flag: kind.text("flag")})
		kind.close()
	}
	for _, limit := range t.rows("limit") {
		c.Limits = append(c.Limits, clientfile.Limit{Key: limit.text("key"), Unit: limit.duration("unit"), Flag: limit.text("flag")})
		limit.close()
	}
	return c
}
