package agent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
)

// table has an option of each kind.
var table = agent.Table{
	{Names: []string{"-p", "--print"}, Takes: agent.Nothing},
	{Names: []string{"-m", "--model"}, Takes: agent.One},
	{Names: []string{"-r", "--resume"}, Takes: agent.Optional},
	{Names: []string{"--tools"}, Takes: agent.Many},
}

// shown writes what was read as "-p -m=x 'word'".
func shown(l agent.CommandLine) string {
	var parts []string
	for _, a := range l.Read {
		switch {
		case a.Name == "":
			parts = append(parts, "'"+a.Values[0]+"'")
		case len(a.Values) == 0:
			parts = append(parts, a.Name)
		default:
			parts = append(parts, a.Name+"="+strings.Join(a.Values, ","))
		}
	}
	if l.Unknown != "" {
		parts = append(parts, "?"+l.Unknown)
	}
	return strings.Join(parts, " ")
}

func TestTable_Read(t *testing.T) {
	for args, want := range map[string]string{
		"":                       "",
		"-p hi":                  "-p 'hi'",
		"--print hi there":       "-p 'hi' 'there'",
		"-m x hi":                "-m=x 'hi'",
		"--model=x hi":           "-m=x 'hi'",
		"--model=":               "-m=",
		"-mx hi":                 "-m=x 'hi'",
		"-m -p":                  "-m=-p", // it takes whatever follows
		"-m -- hi":               "-m=-- 'hi'",
		"-r abc hi":              "-r=abc 'hi'",
		"-r -p hi":               "-r -p 'hi'",
		"-p -r":                  "-p -r",
		"--resume=abc hi":        "-r=abc 'hi'",
		"--tools a b c":          "--tools=a,b,c",
		"--tools a b -p hi":      "--tools=a,b -p 'hi'",
		"--tools a -- hi":        "--tools=a 'hi'",
		"--tools=a hi":           "--tools=a 'hi'",
		"--tools a --tools b -p": "--tools=a --tools=b -p",
		"-- -p --model":          "'-p' '--model'",
		"-p - hi":                "-p '-' 'hi'",
		"--tools - x":            "--tools=-,x",
		"-p --what hi":           "-p ?--what",
		"hi --print=yes":         "'hi' ?--print=yes",
		"-pm x":                  "?-pm",
		"hi -m":                  "'hi' ?-m",
		"-x":                     "?-x",
	} {
		if got := shown(table.Read(strings.Fields(args))); got != want {
			t.Errorf("%q is read as %q, want %q", args, got, want)
		}
	}
}

func TestCommandLine(t *testing.T) {
	l := table.Read([]string{"-m", "a", "hi", "--model=b", "--tools", "x", "y", "--", "-p"})
	if !l.Has("-m") || l.Has("-p") || l.Has("-r") || l.Value("-m") != "b" || l.Value("--tools") != "x" || l.Value("-r") != "" || l.Dashes != 7 {
		t.Errorf("%+v", l)
	}
	if words := l.Words(); len(words) != 2 || words[0].Values[0] != "hi" || words[1].Values[0] != "-p" {
		t.Errorf("%+v", words)
	}
	drop := func(names ...string) []string {
		return l.Without(func(a agent.Arg) bool { return slices.Contains(names, a.Name) })
	}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, "-m a hi --model=b --tools x y -- -p"},
		{[]string{"-m"}, "hi --tools x y -- -p"},
		{[]string{"--tools"}, "-m a hi --model=b -- -p"},
		{[]string{""}, "-m a --model=b --tools x y --"},
		{[]string{"", "-m", "--tools"}, "--"},
	} {
		if got := strings.Join(drop(c.names...), " "); got != c.want {
			t.Errorf("without %q: %q, want %q", c.names, got, c.want)
		}
	}
	if none := table.Read([]string{"-p"}); none.Dashes != -1 {
		t.Errorf("%+v", none)
	}
}

// What was read lies in the arguments one after the other and overlaps nothing, so that leaving nothing out leaves all.
func FuzzTable_Read(f *testing.F) {
	for _, args := range []string{"-p\x00hi", "--tools\x00a\x00--\x00b", "-m", "-mx\x00-r\x00-", "--model=\x00=", "-=x\x00--=y\x00-"} {
		f.Add(args)
	}
	f.Fuzz(func(t *testing.T, joined string) {
		args := strings.Split(joined, "\x00")
		l := table.Read(args)
		at := 0
		for _, a := range l.Read {
			if a.From < at || a.To <= a.From || a.To > len(args) || a.Name == "" && len(a.Values) != 1 {
				t.Fatalf("%q: %+v", args, l)
			}
			if a.From > at && !(a.From == at+1 && args[at] == "--") {
				t.Fatalf("%q: %q was not read", args, args[at:a.From])
			}
			at = a.To
		}
		if kept := l.Without(func(agent.Arg) bool { return false }); !slices.Equal(kept, args) {
			t.Errorf("%q, want %q", kept, args)
		}
		l.Without(func(agent.Arg) bool { return true })
	})
}
