//go:build linux

package agents_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// recorded is a failure of a CLI, alone and without belay, and the class that it deserves.
type recorded struct {
	name   string
	script string
	args   []string // beside the form and the prompt
	env    []string
	files  map[string]string // in the CLI's home
	class  verdict.Class
}

// TestRecord makes the outcomes in testdata/recorded.jsonl of each agent's folder anew, which its unit test judges. BELAY_TEST_RECORD
// names the directory that the files go to, and BELAY_TEST_CLIS one of other versions. What a form does not tell is taken out by hand.
func TestRecord(t *testing.T) {
	dir := os.Getenv("BELAY_TEST_RECORD")
	if dir == "" {
		t.Skip("only with BELAY_TEST_RECORD, a directory")
	}
	for _, a := range agents {
		var mu sync.Mutex
		for _, version := range a.Versions {
			for _, r := range a.recorded {
				for form, flags := range a.forms {
					t.Run(strings.Join([]string{a.Name, r.name, form, version}, "/"), func(t *testing.T) {
						t.Parallel()
						line := a.record(t, r, version, form, flags)
						mu.Lock()
						defer mu.Unlock()
						f, err := os.OpenFile(filepath.Join(dir, a.Name+".jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
						must.OK(t, err)
						defer f.Close()
						f.Write(append(line, '\n'))
					})
				}
			}
		}
	}
}

// record runs the CLI, and returns its outcome as a line of JSON.
func (a *agent) record(t *testing.T, r recorded, version, form string, flags []string) []byte {
	s := a.New(t, version, r.script)
	s.Env = r.env
	for name, text := range r.files {
		path := filepath.Join(s.Dir, "api", "home", name)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	}
	s.Leaves = true
	ran := s.Run(a.Name, a.ask(append(append(append([]string{}, flags...), r.args...), "say hi")...)...)
	// What names this machine, or differs from run to run, tells nothing.
	own := strings.NewReplacer(s.Dir, "/home/user", filepath.Dir(s.Agent), "/opt/"+a.Name, os.TempDir(), "/tmp")
	o := verdict.Outcome{ExitCode: ran.Code, Stdout: verdict.ExcerptOf(ran.Stdout), Stderr: verdict.ExcerptOf(ran.Stderr)}
	v := a.Descriptor.New([]string{a.Name}, nil, "").Judge(o, time.Now())
	if v.Class != r.class {
		t.Errorf("%s by %s (%q), want %s", v.Class, v.Rule, v.Evidence, r.class)
	}
	var after *float64
	if v.Hint.After > 0 {
		n := v.Hint.After.Seconds()
		after = &n
	}
	line, err := json.Marshal(map[string]any{
		"id": strings.Join([]string{a.Name, r.name, form, version}, "/"), "exit_code": ran.Code, "stdout": own.Replace(ran.Stdout), "stderr": own.Replace(ran.Stderr),
		"lenient": []string{"session_id", "input_tokens", "output_tokens", "cost_usd", "reset_at"},
		"expect":  map[string]any{"class": r.class, "retryable": r.class.Retryable(), "retry_after_s": after},
	})
	must.OK(t, err)
	return line
}
