package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/test/must"
)

// small is a profile with all that one needs.
const small = `[profile.toy]
command = "toy"
[profile.toy.headless]
always = true
`

// A mistake in a profile names the file, the line and the key.
func TestOwnProfile_Mistakes(t *testing.T) {
	for text, want := range map[string]string{
		"[profile.toy]\ncommand = 3":                                           ":2: profile.toy.command: 3 is not a string",
		"[profile.toy]\ncommand = \"toy\"":                                     ":1: profile.toy.headless: is missing",
		"[profile.claude]\ncommand = \"claude\"":                               ":1: profile.claude: claude is built in",
		"[profile.claude.events]\nx = 1":                                       ":1: profile.claude.events: unknown key",
		"[profile.claude]\nstatus = '(x)'":                                     ":1: profile.claude: claude is built in",
		"[profile.generic]\ncommand = \"x\"":                                   ":1: profile.generic: generic is built in",
		"[profile.toy]\ncommand = [\"a\", \"gh\"]\nheadless = {always = true}": ":2: profile.toy.command: gh has a profile that is built in",
		"[profile.Toy]\ncommand = \"toy\"\nheadless = {always = true}":         ":1: profile.Toy: \"Toy\" is not a name for a profile",
		"[profile.toys]\nmax_retries = 3":                                      ":1: profile.toys: there is no profile toys",
		small + "alway = true":                                                 ":5: profile.toy.headless.alway: unknown key",
		small + "[profile.toy.prompt]\noption = \"-p\"":                        ":6: profile.toy.prompt.option: -p is not listed in options",
		small + "[profile.toy.prompt]\nstdin = true":                           ":6: profile.toy.prompt.stdin: true is not a string",
		small + "[profile.toy.output]\nevents = [\"x\"]":                       ":6: profile.toy.output.events: needs tables",
		small + "[profile.toy.session]\nresume = [\"x\"]":                      ":6: profile.toy.session.resume: does not contain {session}",
		small + "[[profile.toy.rule]]\nname = \"a\"\nclass = \"authh\"":        ":7: profile.toy.rule[1].class: unknown class",
		small + "[[profile.toy.rule]]\nname = \"a\"\nclass = \"auth\"":         ":5: profile.toy.rule[1].match: is missing",
		small + "[[profile.toy.event]]\nkind = \"text\"":                       ":5: profile.toy.event[1].when: is missing",
		small + "[[profile.toy.event]]\nwhen = {a = 1}\nkind = \"txt\"":        ":7: profile.toy.event[1].kind: \"txt\" is not start, text",
		small + "[[profile.toy.event]]\nwhen = {a = 1}\nkind = \"text\"\n[[profile.toy.event]]\nwhen = {b = 1}\nkind = \"text\"\ntxt = 1": ":11: profile.toy.event[2].txt: unknown key",
		strings.Replace(small, "\n", "\nstop = \"INT\"\n", 1):                                                                             ":2: profile.toy.stop: \"INT\" is not a signal and the time",
		strings.Replace(small, "\n", "\ndaemons = [3]\n", 1):                                                                              ":2: profile.toy.daemons: 3 is not a string",
		strings.Replace(small, "\n", "\noptions = [\"prompt TEXT\"]\n", 1):                                                                ":2: profile.toy.options: \"prompt TEXT\" is not an option",
		strings.Replace(small, "\n", "\nstall = \"soon\"\n", 1):                                                                           ":2: profile.toy.stall: \"soon\" is not a duration",
		strings.Replace(small, "\n", "\nmax_retries = -1\n", 1):                                                                           ":2: profile.toy.max_retries: ",
		strings.Replace(small, "\n", "\nmax_retry = 1\n", 1):                                                                              ":2: profile.toy.max_retry: unknown key",
		small + "[profile.toy.mcp]\nfile = \"mcp.json\"":                                                                                  ":5: profile.toy.mcp.key: is missing",
		small + "[profile.toy.mcp]\nkey = \"servers\"\nfile = \"../mcp.json\"":                                                            ":7: profile.toy.mcp.file: must be a path below a directory",
		small + "[profile.toy.hooks]\nseconds = 60":                                                                                       ":5: profile.toy.hooks.file: is missing",
		small + "[profile.toy2]\ncommand = \"toy\"\nheadless = {always = true}":                                                           ":6: profile.toy2.command: toy is already the command of [profile.toy]",
	} {
		useText(t, text)
		got := strings.ReplaceAll(strings.Join(config.Mistakes("."), " | "), " is ignored: ", ": ")
		if !strings.Contains(got, "config.toml"+want) || strings.Contains(got, "\n") {
			t.Errorf("%s\n  %v\n  want %s", text, got, want)
		}
		if _, _, err := config.Load(nil, "generic"); err != nil {
			t.Errorf("%s: stops what has nothing to do with it: %v", text, err)
		}
	}
}

// A pattern that is wrong is found where the profile is used, and by belay config show; every other run goes on.
func TestOwnProfile_Patterns(t *testing.T) {
	for text, want := range map[string]string{
		strings.Replace(small, "\n", "\nstatus = '('\n", 1):                                         ":2: profile.toy.status: missing closing ): (",
		strings.Replace(small, "\n", "\nstatus = 'x'\n", 1):                                         ":2: profile.toy.status: it needs a group",
		strings.Replace(small, "\n", "\ndaemons = ['--hub', '.*']\n", 1):                            ":2: profile.toy.daemons: the pattern \".*\" matches every command line",
		small + "[profile.toy.session]\nid = '['":                                                   ":6: profile.toy.session.id: missing closing ]",
		small + "[profile.toy.session]\nid = '[a-z]+'\nexample = \"A1\"":                            ":7: profile.toy.session.example: \"A1\" does not have the form",
		small + "[[profile.toy.rule]]\nname = \"a\"\nclass = \"auth\"\nmatch = '('":                 ":5: profile.toy.rule[1]: match: ",
		small + "[[profile.toy.event]]\nkind = \"text\"\n[profile.toy.event.when]\n\"a.b\" = '/(/'": ":8: profile.toy.event[1].when.a.b: missing closing )",
	} {
		useText(t, text)
		user, err := config.ReadUser()
		if err != nil {
			t.Fatalf("%s\n  %v", text, err)
		}
		if _, _, err := user.Load(nil, "claude"); err != nil {
			t.Errorf("another profile: %v", err)
		}
		_, _, used := user.Load(nil, "toy")
		_, shown := config.Show("")
		_, checked := config.OwnProfile("toy")
		for _, err := range []error{used, shown, checked} {
			if err == nil || !strings.Contains(err.Error(), "config.toml"+want) {
				t.Errorf("%s\n  %v\n  want %s", text, err, want)
			}
		}
	}
}

// What a file declares is a profile as any other: for its command, with settings, a preset, rules, budgets and alerts of its own.
func TestOwnProfile_IsAProfile(t *testing.T) {
	useText(t, strings.Replace(small, "\n", "\nmax_retries = 7\nstall_timeout = \"5m\"\ninstall = \"make toy\"\n", 1)+`
[[rule]]
name = "mine"
profile = "toy"
class = "auth"
match = "x"
[budget.play]
profile = "toy"
limit = 3
window = "day"
[alert.toy]
failures = 3
`)
	user, err := config.ReadUser()
	must.OK(t, err)
	d := profile.OfCommand("/opt/toy.cmd")
	if d == nil || d.Name != "toy" || profile.Find("toy") != d || !slices.Contains(config.Profiles(), "toy") || !d.IsAgent() || d.Install[0].Command != "make toy" {
		t.Fatalf("%+v", d)
	}
	s, rules, err := user.Load(nil, "toy")
	if err != nil || s.MaxRetries != 7 || s.StallTimeout != 5*time.Minute || len(rules) != 1 || s.Policy("toy", true).BaseDelay != time.Second {
		t.Errorf("%v, %+v, %v", s, rules, err)
	}
	if p, err := profile.Bind("toy", []string{"toy", "hi"}, nil, ""); err != nil || !p.Headless() {
		t.Errorf("%v, %v", p, err)
	} else if _, ok := p.(agent.Agent); !ok {
		t.Errorf("%T is not an agent", p)
	}
	useText(t, "")
	if _, err := config.ReadUser(); err != nil || profile.Find("toy") != nil {
		t.Errorf("it is known after it is gone: %v", err)
	}
}

// A repository cannot declare what is run and what counts as a success. It can set a limit for what the user has declared.
func TestOwnProfile_NotInAProject(t *testing.T) {
	useText(t, small)
	work := t.TempDir()
	must.OK(t, os.Mkdir(filepath.Join(work, ".git"), 0o700))
	t.Chdir(work)
	project := strings.ReplaceAll(small, "toy", "evil") + "[profile.toy]\ntimeout = \"5m\"\n"
	must.OK(t, os.WriteFile(filepath.Join(work, config.ProjectFile), []byte(project), 0o600))
	s, _, err := config.Load(nil, "toy")
	if err != nil || profile.Find("evil") != nil || profile.OfCommand("evil") != nil {
		t.Fatalf("a project has declared a profile: %v", err)
	}
	if len(s.Ignored) != 1 || s.Ignored[0].Key != "profile.evil" || s.Ignored[0].Line != 1 || !strings.Contains(s.Ignored[0].Why, "profiles") {
		t.Errorf("%+v", s.Ignored)
	}
	if s.AtMost.Timeout != 5*time.Minute {
		t.Errorf("its limit for a declared profile: %v", s.AtMost)
	}
}
