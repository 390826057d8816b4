package config

import (
	"cmp"
	"path"
	"path/filepath"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/message"
)

// ownClient reads where a CLI has MCP servers and hooks: in files of the user's below its home, and in those of a project. Nil if it does not say.
func ownClient(name, home, homeVar string, t, hooks *fields) *clientfile.Client {
	if len(t.table)+len(hooks.table) == 0 {
		return nil
	}
	c := &clientfile.Client{Name: name, Grant: clientfile.Grant{Seconds: float64(cmp.Or(hooks.count("seconds"), 60))},
		Remote: clientfile.Remote{StdioType: t.text("stdio_type"), Headers: t.text("headers"), Env: "env", Bearer: t.text("bearer"), Own: t.texts("own")}}
	place := func(t *fields, field, key string, p clientfile.Place) {
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
		p.Keys, p.File = []string{key}, file
		if p.Scope == clientfile.User {
			p.HomeFile = path.Join(home, file)
		}
		c.Places = append(c.Places, p)
	}
	both := func(t *fields, kind clientfile.Kind, key string) {
		had := len(c.Places)
		place(t, "file", key, clientfile.Place{Kind: kind, Scope: clientfile.User, HomeVar: homeVar})
		place(t, "project", key, clientfile.Place{Kind: kind, Scope: clientfile.Project})
		switch {
		case len(t.table) == 0:
		case key == "":
			t.fail("key", message.Error(message.Missing()))
		case len(c.Places) == had:
			t.fail("file", message.Error(message.Missing()))
		case home == "":
			t.fail("file", message.Error("needs the home of the CLI"))
		}
	}
	both(t, clientfile.Servers, t.text("key"))
	both(hooks, clientfile.Hooks, "hooks")
	if len(hooks.table) == 0 {
		c.NoHooks = "belay does not know the hooks of " + name
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
