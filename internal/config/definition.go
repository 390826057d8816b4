package config

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/custom"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/signame"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// definitionKeys are what a table [profile.NAME] may say of a CLI, beside the settings for it.
var definitionKeys = []string{"command", "options", "headless", "prompt", "output", "session", "success", "service", "as_fallback", "event", "retry", "status",
	"message", "failed", "record", "rule", "stop", "daemons", "stall", "tool_stall", "home", "home_variable", "install", "login", "tested", "outcomes", "mcp", "hooks"}

// definition reads what a table says of a CLI, and takes it out of the table. The key of what is wrong is returned beside the error, and a definition
// that is good for nothing but to know the command.
func definition(name string, table map[string]any) (d *custom.Definition, key string, err error) {
	if !isProfileName(name) {
		return nil, "", message.Error(fmt.Sprintf("%q is not a name for a profile. Use lower-case letters, digits, - and _, beginning with a letter", name))
	}
	t := &fields{table: map[string]any{}}
	for _, key := range definitionKeys {
		if value, ok := table[key]; ok {
			t.table[key] = value
			delete(table, key)
		}
	}
	d = &custom.Definition{
		Name:     name,
		Commands: t.texts("command"),
		Options:  t.options("options"),
		Retry:    t.text("retry"),
		Status:   t.text("status"),
		Message:  t.text("message"),
		Record:   t.text("record"),
		Failed:   t.text("failed"),
		Stop:     t.ladder("stop"),
		Daemons:  t.texts("daemons"),
		Stall:    t.duration("stall"), ToolStall: t.duration("tool_stall"),
		HomeDir: t.text("home"), HomeVar: t.text("home_variable"),
		Install: t.text("install"), Login: t.text("login"),
		Tested: t.texts("tested"), Outcomes: t.text("outcomes"),
	}
	h := t.inner("headless")
	d.Headless = custom.Headless{Always: h.flag("always"), Options: h.texts("options"), Words: h.flag("words"), Command: h.texts("command"), Except: h.texts("except")}
	h.close()
	p := t.inner("prompt")
	d.Prompt = custom.Prompt{Option: p.text("option"), Words: p.flag("words"), Stdin: custom.Stdin(p.oneOf("stdin", string(custom.Joined), string(custom.Alone))), MaxStdin: p.count("max_stdin"),
		Others: p.texts("others"), Commands: p.text("commands"), Escape: p.text("escape")}
	p.close()
	o := t.inner("output")
	d.Output = custom.Output{Events: o.texts("events"), Text: o.text("text"), All: o.oneOf("prints", "last", "all") == "all"}
	o.close()
	s := t.inner("session")
	d.Session = custom.Session{Resume: s.texts("resume"), New: s.texts("new"), Options: s.texts("options"), ID: s.text("id"), Example: s.text("example"),
		Cumulative: s.flag("cumulative")}
	s.close()
	u := t.inner("success")
	d.Success.Exit = u.codes("exit", 0, 255)
	if _, ok := u.table["answer"]; ok {
		needed := u.flag("answer")
		d.Success.Answer = &needed
	}
	u.close()
	v := t.inner("service")
	d.Service = custom.Service{Host: v.text("host"), AddressVars: v.texts("address_variable"), KeyVars: v.texts("key_variable")}
	v.close()
	b := t.inner("as_fallback")
	d.StandIn = agent.StandIn{Model: b.text("model"), AllowAll: b.text("allow_all"), NoSession: b.text("no_session"), Open: b.flag("open")}
	b.close()
	m, k := t.inner("mcp"), t.inner("hooks")
	d.Client = ownClient(name, d.HomeDir, d.HomeVar, m, k)
	m.close()
	k.close()
	for _, row := range t.rows("rule") {
		d.Rules = append(d.Rules, ownRule(row))
	}
	for _, row := range t.rows("event") {
		d.Events = append(d.Events, ownEvent(row))
	}
	if len(t.wrong) == 0 {
		if w := missing(d, t); w != nil {
			t.wrong = append(t.wrong, *w)
		}
	}
	if len(t.wrong) > 0 { // the command is known at least
		return &custom.Definition{Name: name, Commands: d.Commands, Headless: custom.Headless{Always: true}}, t.wrong[0].key, t.wrong[0].err
	}
	return d, "", nil
}

// missing says what a profile lacks, or what in it cannot be used with the rest.
func missing(d *custom.Definition, t *fields) *wrongField {
	if d.Session.ID == "" && d.Session.Example == "" {
		d.Session.Example = agent.UUIDExample
	}
	known := func(name string) bool {
		name, _, _ = strings.Cut(name, "=")
		return !strings.HasPrefix(name, "-") || slices.ContainsFunc(d.Options, func(o agent.Option) bool { return slices.Contains(o.Names, name) })
	}
	for _, list := range []struct {
		key   string
		names []string
	}{
		{"headless.options", d.Headless.Options}, {"prompt.option", []string{d.Prompt.Option}}, {"prompt.others", d.Prompt.Others}, {"output.events", d.Output.Events},
		{"as_fallback.model", []string{d.StandIn.Model}}, {"as_fallback.allow_all", []string{d.StandIn.AllowAll}}, {"as_fallback.no_session", []string{d.StandIn.NoSession}},
		{"session.resume", d.Session.Resume}, {"session.new", d.Session.New}, {"session.options", d.Session.Options},
	} {
		for _, name := range list.names {
			if !known(name) {
				return &wrongField{list.key, message.Error(fmt.Sprintf("%s is not listed in options", name))}
			}
		}
	}
	hasMark := func(args []string) bool {
		return len(args) == 0 || slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "{session}") })
	}
	switch h := &d.Headless; {
	case !h.Always && len(h.Options) == 0 && !h.Words && len(h.Command) == 0:
		return &wrongField{"headless", message.Error(`is missing. Say which command lines need no person: options = ["-p"], words = true, command = ["run"] or always = true`)}
	case !hasMark(d.Session.Resume):
		return &wrongField{"session.resume", message.Error(message.SessionMarkMissing())}
	case !hasMark(d.Session.New):
		return &wrongField{"session.new", message.Error(message.SessionMarkMissing())}
	case len(d.Session.New) > 0 && d.Session.ID != "":
		return &wrongField{"session.new", message.Error("needs sessions whose ids are UUIDs; remove session.id")}
	case len(d.Output.Events) > 0 && len(d.Events) == 0:
		return &wrongField{"output.events", message.Error("needs tables [[profile.NAME.event]] that say what the events mean")}
	}
	return nil
}

// isProfileName reports whether a name can be one: it is part of keys of gates, of the log and of names of files.
func isProfileName(name string) bool {
	return name != "" && len(name) <= 40 && name[0] >= 'a' && name[0] <= 'z' && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// ownRule reads a rule of a profile: as those for all profiles, and with statuses of HTTP and errors in events.
func ownRule(t *fields) (r custom.Rule) {
	r.Rule = verdict.Rule{Name: t.text("name"), Class: verdict.Class(t.text("class")), Exit: t.codes("exit", 0, 255), Signal: t.texts("signal"),
		Stream: t.oneOf("stream", "events", "stderr", "stdout"), Match: t.text("match"), AnyExit: t.flag("any_exit")}
	if _, ok := t.table["retryable"]; ok {
		retryable := t.flag("retryable")
		r.Retryable = &retryable
	}
	r.Status = t.codes("status", 100, 599)
	t.close()
	if r.Stream == "events" {
		r.Stream, r.Events = "", true
	}
	if r.Name == "" {
		t.fail("name", message.Error(message.Missing()))
	}
	if _, err := verdict.ParseClass(string(r.Class)); err != nil {
		t.fail("class", err)
	}
	if r.Match == "" && len(r.Status)+len(r.Exit)+len(r.Signal) == 0 {
		t.fail("match", message.Error("is missing. Without match, status, exit or signal, the rule would match every failure"))
	}
	return r
}

// ownEvent reads what a profile says of some events.
func ownEvent(t *fields) (e custom.Event) {
	kinds := make([]string, len(custom.Kinds))
	for i, k := range custom.Kinds {
		kinds[i] = string(k)
	}
	when := t.inner("when")
	for path, value := range when.table {
		list, isList := value.([]any)
		switch value.(type) {
		case string, bool, int64, float64:
			continue
		}
		if !isList || len(list) > 0 {
			when.fail(path, message.Error("must be a string, a number, true or false; a string in slashes is a pattern, and [] stands for null"))
		}
	}
	e.When, e.Kind, e.Recorded = when.table, custom.Kind(t.oneOf("kind", kinds...)), t.flag("record")
	if len(e.When) == 0 {
		t.fail("when", message.Error(`is missing. Say which events this is about, such as when = { type = "result" }`))
	}
	if e.Kind == "" {
		t.fail("kind", message.Error(message.Missing()))
	}
	for _, f := range custom.Fields {
		if _, always := t.table[string(f)].(int64); always && f == custom.FieldStatus { // no path, but what it always is
			for _, status := range t.codes(string(f), 100, 599) {
				e.Status = status
			}
			continue
		}
		if path := t.text(string(f)); path != "" {
			if e.Paths == nil {
				e.Paths = map[custom.Field]string{}
			}
			e.Paths[f] = path
		}
	}
	if class := t.text("class"); class != "" {
		var err error
		if e.Class, err = verdict.ParseClass(class); err != nil {
			t.fail("class", err)
		}
	}
	t.close()
	return e
}

// options reads the options of a CLI, each as its help shows it: "-r, --resume [ID]".
func (t *fields) options(key string) (table agent.Table) {
	for _, line := range t.texts(key) {
		o, ok := agent.ParseOption(line)
		if !ok {
			t.fail(key, message.Error(fmt.Sprintf("%q is not an option. Write it as its help does: \"-y, --yes\", \"--model NAME\" or \"--resume [ID]\"", line)))
			return nil
		}
		table = append(table, o)
	}
	return table
}

// ladder reads how a CLI is stopped: signals, each with the time that it is given, as "INT 4s".
func (t *fields) ladder(key string) (l supervise.Ladder) {
	for _, rung := range t.texts(key) {
		name, wait, _ := strings.Cut(rung, " ")
		sig, err := signame.Parse(name)
		d, wrong := ParseDuration(strings.TrimSpace(wait))
		if err != nil || wrong != nil || d > 10*time.Minute {
			t.fail(key, message.Error(fmt.Sprintf("%q is not a signal and the time to wait after it, such as \"INT 4s\"", rung)))
			return nil
		}
		l = append(l, supervise.Rung{Signal: syscall.Signal(signame.Number(sig)), Wait: d})
	}
	return l
}
