package config

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// Any file gives a value or one line that says what is wrong with it.
func FuzzParseFile(f *testing.F) {
	for _, s := range []string{
		"max_retries = 3\n[profile.generic]\ntimeout = \"5s\"",
		"[[rule]]\nname = \"r\"\nmatch = \"x\"\nclass = \"auth\"\nexit = [1, 2]",
		"[profile.toy]\ncommand = \"toy\"\noptions = [\"-r, --resume [ID]\"]\nstatus = '('\n[profile.toy.headless]\noptions = [\"-r\"]\n[[profile.toy.event]]\nwhen = {a = '/x/'}\nkind = \"text\"\ntext = \"a[].b\"",
		"[[profile.toy.rule]]\nname = 3\n[profile.toy]\ncommand = \"toy\"\nheadless = {always = true}\nstop = [\"INT 1s\"]",
		"retry_on_exit = [1, 75]", "a.b.c = 1", "[profile]\nx = 1", "rule = 3", "[[profile]]", "timeout = {a = 1}",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, text string, project bool) {
		file, err := parseFile("c.toml", []byte(text), project)
		switch {
		case err != nil && !strings.HasPrefix(err.Error(), "c.toml"):
			t.Errorf("error without the file: %v", err)
		case err == nil && !project && file.checkOwn("") != nil && !strings.HasPrefix(file.checkOwn("").Error(), "c.toml:"):
			t.Errorf("error without the line: %v", file.checkOwn(""))
		case project && (err != nil || len(file.own) > 0 || len(file.rules) > 0 || len(file.alerts.Command) > 0 || file.alerts.Webhook != ""):
			t.Errorf("a project's file: %v, %+v", err, file)
		}
	})
}

func TestParseFile_Alerts(t *testing.T) {
	f, err := parseFile("c.toml", []byte(`
[alert]
failures = 7
within = "20m"
command = ["logger", "-t", "belay"]
webhook = "http://127.0.0.1:9/hook"
[alert.claude]
failures = 20
[alert."mcp:files"]
within = 60
[alert.generic]
failures = 0
`), false)
	must.OK(t, err)
	a := f.alerts
	if a.Failures != 7 || a.Within != 20*time.Minute || len(a.Command) != 3 || a.Webhook == "" || a.For("claude").Failures != 20 ||
		a.For("mcp:files").Within != time.Minute || a.For("mcp:files").Failures != 7 || !a.For("generic").Off() {
		t.Errorf("%+v", a)
	}
	for text, want := range map[string]string{
		"alert = 3":                          "c.toml:1: alert: must be a table",
		"[fleet]\nallow = [\"clude\"]":       "c.toml:2: fleet.allow: ",
		"[fleet]\nallow = [\"codex:plain\"]": "c.toml:2: fleet.allow: codex:plain: codex may run commands",
		"[fleet]\nalow = \"claude\"":         "c.toml:2: fleet.alow: unknown key; did you mean allow? Nothing runs until this is corrected, because fleet protects",
		"fleet = 3":                          "c.toml:1: fleet: must be a table",
		"[alert]\nfailure = 3":               "c.toml:2: alert.failure: unknown key; did you mean failures?",
		"[alert]\nfailures = -3":             "c.toml:2: alert.failures: -3 is not between 0 and 1000",
		"[alert]\nwithin = 0":                "c.toml:2: alert.within: must be longer than 0",
		"[alert]\ncommand = \"a b\"":         "c.toml:2: alert.command: must be a list",
		"[alert]\ncommand = [1]":             "c.toml:2: alert.command: 1 is not a string",
		"[alert]\nwebhook = \"ftp://x/\"":    "c.toml:2: alert.webhook: \"ftp://x/\" is not a URL",
		"[alert.claude]\nwebhook = \"x\"":    "c.toml:2: alert.claude.webhook: unknown key. The keys are failures and within",
		"[alert.claude]\nfailures = \"x\"":   "c.toml:2: alert.claude.failures: \"x\" is not a whole number",
	} {
		f, err := parseFile("c.toml", []byte(text), false)
		got := fmt.Sprint(err)
		if stops := strings.HasPrefix(want, "c.toml:2: fleet") || strings.HasPrefix(want, "c.toml:1: fleet"); err == nil && !stops && len(f.ignored) == 1 {
			got = strings.Replace(f.ignored[0].String(), " is ignored: ", ": ", 1)
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: said %v, want %s", text, got, want)
		}
	}
	f, err = parseFile("p.toml", []byte("[alert]\nfailures = 3"), true)
	if err != nil || f.alerts.Failures != 0 || len(f.ignored) != 1 {
		t.Errorf("a project's alerts were taken: %+v, %v", f, err)
	}
}

// A project's file of the allowed size costs little, whatever is in it. A key of 30,000 names took a gigabyte and twenty
// seconds.
func TestParseFile_MadeToBeCostly(t *testing.T) {
	for name, text := range map[string]string{
		"DeepKey":    "[" + strings.Repeat("a.", maxProjectFile/2-10) + "a]\nx = 1\n",
		"DeepValue":  "a = " + strings.Repeat("{a=", maxProjectFile/4-10) + "1" + strings.Repeat("}", maxProjectFile/4-10),
		"ManyTables": strings.Repeat("[[a]]\n", maxProjectFile/6),
		"ManyKeys":   manyKeys(maxProjectFile),
		"LongKey":    strings.Repeat("a", maxProjectFile-10) + " = 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			parseFile("c.toml", []byte(text), true)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 200<<20 { // steadier than the time
				t.Errorf("it took %d MiB", took>>20)
			}
		})
	}
}

func manyKeys(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size-20; i++ {
		fmt.Fprintf(&b, "[k%d]\n", i)
	}
	return b.String()
}

// Notepad begins a file with a byte order mark.
func TestParseFile_ByteOrderMark(t *testing.T) {
	f, err := parseFile("c.toml", []byte("\uFEFFtimeout = \"5s\"\r\n"), false)
	if err != nil || f.values["timeout"].text != "5s" || f.values["timeout"].line != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}
