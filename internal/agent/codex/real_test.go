package codex_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/codex"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/companion/rehearse"
	"github.com/belay-run/belay/verdict"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// each runs a test with the newest real codex, and with an older one where that is installed.
func each(t *testing.T, test func(t *testing.T, cli string)) {
	t.Parallel()
	t.Run("newest", func(t *testing.T) { t.Parallel(); test(t, clitest.Codex(t, "")) })
	const older = "0.150.1"
	if _, err := os.Stat(filepath.Join("..", "..", "..", ".clis", "codex-"+older, "codex")); err == nil {
		t.Run(older, func(t *testing.T) { t.Parallel(); test(t, clitest.Codex(t, older)) })
	}
}

// sandbox is where a real codex works: against a script, in a directory and with a home of its own.
type sandbox struct {
	t   *testing.T
	api *rehearse.API
	cli string
	dir string
	env []string
}

func newSandbox(t *testing.T, cli, script string) *sandbox {
	t.Helper()
	api, err := rehearse.Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close() })
	return &sandbox{t: t, api: api, cli: cli, dir: t.TempDir(), env: append(os.Environ(), api.Environ()...)}
}

// spent waits until codex has on record what it has used, or for a while: 0.150 says nothing before the tool has ended.
func (d *sandbox) spent() {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		paths, _ := filepath.Glob(filepath.Join(d.api.Dir(), "home", ".codex", "sessions", "*", "*", "*", "rollout-*.jsonl"))
		for _, path := range paths {
			if record, _ := os.ReadFile(path); bytes.Contains(record, []byte(`"output_tokens":`)) {
				return
			}
		}
	}
}

// attempt is one start of codex and what became of it.
type attempt struct {
	plan    agent.Plan
	stdout  string
	text    string // as rendered
	verdict verdict.Verdict
	account agent.Account
	answer  string
}

// bare runs codex without us.
func (d *sandbox) bare(stdin string, args ...string) (stdout string) {
	d.t.Helper()
	cmd := exec.Command(d.cli, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = d.dir, d.env, strings.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		d.t.Errorf("%.80q: %v", args, err)
	}
	return string(out)
}

// run does what the root package does with a profile: plan, start, follow, judge. watch sees each LineInfo.
func (d *sandbox) run(turn agent.Turn, watch func(agent.LineInfo, *os.Process), args ...string) attempt {
	d.t.Helper()
	p := codex.New(append([]string{d.cli}, args...), d.env, d.dir)
	if !p.Headless() || p.Info().Unknown != "" {
		d.t.Fatalf("%q: not headless, or unknown %q", args, p.Info().Unknown)
	}
	plan, err := p.Plan(turn)
	if err != nil {
		d.t.Fatal(err)
	}
	f := p.Follow(plan)
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(plan.Args[0], plan.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = d.dir, append(d.env, plan.Env...), &stderr
	if plan.Stdin != nil {
		cmd.Stdin = bytes.NewReader(plan.Stdin)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	late := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	lines := agent.Lines{Each: func(line agent.Line) {
		line.WriteTo(&stdout)
		info := f.Line(line)
		f.Account() // as the engine does to learn the session
		if watch != nil {
			watch(info, cmd.Process)
		}
	}}
	buf := make([]byte, 64<<10)
	for {
		n, err := pipe.Read(buf)
		lines.Write(buf[:n])
		if err != nil {
			break
		}
	}
	lines.Close()
	cmd.Wait()
	o := verdict.Outcome{ExitCode: cmd.ProcessState.ExitCode(), Stderr: verdict.ExcerptOf(stderr.Bytes())}
	if o.ExitCode < 0 {
		o.Signal = "SIGKILL"
	}
	a := attempt{plan: plan, stdout: stdout.String(), verdict: f.Judge(o, time.Now()), account: f.Account(), answer: f.Answer().String()}
	var text strings.Builder
	if err := f.Render(&text, agent.Text); err != nil {
		d.t.Error(err)
	}
	a.text = text.String()
	d.t.Logf("%.300q\nexit %d %s\n%.2000sstderr: %.1500s\n%+v\n%+v", plan.Args[1:], o.ExitCode, o.Signal, stdout.Bytes(), stderr.Bytes(), a.verdict, a.account)
	return a
}

// is checks the class.
func (a attempt) is(t *testing.T, class verdict.Class) {
	t.Helper()
	if a.verdict.Class != class {
		t.Errorf("%s by %s, want %s", a.verdict.Class, a.verdict.Rule, class)
	}
}

// heard checks what the model was told last.
func (d *sandbox) heard(want string) {
	d.t.Helper()
	main := d.api.Main()
	if len(main) == 0 {
		d.t.Error("nothing was asked")
	} else if got := main[len(main)-1].LastMessage; got != want {
		d.t.Errorf("the model was told %.80q (%d bytes), want %.80q (%d bytes)", got, len(got), want, len(want))
	}
}

const quick = "--skip-git-repo-check"

var id = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// What the caller gets is what the bare CLI prints, byte for byte, in both forms.
func TestReal_PrintsAsTheBareCLI(t *testing.T) {
	each(t, func(t *testing.T, cli string) {
		text := func(t *testing.T) {
			d := newSandbox(t, cli, `200(text="two\nlines\n")x2`)
			a := d.run(agent.Turn{}, nil, "exec", quick, "hi")
			if bare := d.bare("", "exec", quick, "hi"); a.text != bare || a.answer != "two\nlines\n" {
				t.Errorf("text is %q, of the bare CLI %q", a.text, bare)
			}
		}
		events := func(t *testing.T) {
			d := newSandbox(t, cli, "500, 200, 500, 200")
			a := d.run(agent.Turn{}, nil, "exec", quick, "--json", "hi")
			same := func(s string) string { return id.ReplaceAllString(s, "ID") }
			if bare := d.bare("", "exec", quick, "--json", "hi"); same(a.stdout) != same(bare) {
				t.Errorf("events are\n%s\nof the bare CLI\n%s", a.stdout, bare)
			}
		}
		together(t, text, events)
	})
}

// together runs tests at the same time: offline, codex takes five idle seconds to end.
func together(t *testing.T, tests ...func(t *testing.T)) {
	var all sync.WaitGroup
	free := make(chan struct{}, 8)
	for _, test := range tests {
		all.Go(func() {
			free <- struct{}{}
			test(t)
			<-free
		})
	}
	all.Wait()
}

// Whatever options a command line has, codex takes it as planned: afresh, and resumed with the same options.
func TestReal_TakesPlannedArguments(t *testing.T) {
	each(t, func(t *testing.T, cli string) {
		var tests []func(t *testing.T)
		for _, options := range [][]string{
			{"exec", quick},
			{"-a", "never", "-m", "exec", "e", quick, "-C", "sub", "--add-dir", "."},
			{"exec", quick, "-o", "last.txt", "--output-schema", "schema.json", "--color", "never", "-s", "read-only"},
			{"exec", quick, "-c", "model_reasoning_effort=low", "--image", "none.png", "other.png", "-c", "hide_agent_reasoning=true"},
		} {
			tests = append(tests, func(t *testing.T) { takes(t, cli, options) })
		}
		together(t, tests...)
	})
}

func takes(t *testing.T, cli string, options []string) {
	d := newSandbox(t, cli, "200(in=10, out=5)x*")
	schema := `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
	if err := errors.Join(os.WriteFile(filepath.Join(d.dir, "schema.json"), []byte(schema), 0o600), os.Mkdir(filepath.Join(d.dir, "sub"), 0o700)); err != nil {
		t.Error(err)
	}
	fresh := d.run(agent.Turn{}, nil, append(slices.Clone(options), "first")...)
	fresh.is(t, verdict.OK)
	d.heard("first")
	if used := fresh.account.Usage; used.InputTokens != 10 || used.OutputTokens != 5 {
		t.Errorf("%q: %+v", options, used)
	}
	last := filepath.Join(d.dir, "last.txt")
	os.Remove(last)
	again := d.run(agent.Turn{Session: fresh.account.Session}, nil, append(slices.Clone(options), "second")...)
	again.is(t, verdict.OK)
	d.heard("second")
	if again.account.Session != fresh.account.Session || again.account.Session == "" {
		t.Errorf("%q: resumed %q, want %q", options, again.account.Session, fresh.account.Session)
	}
	// What a thread has used before is not counted again.
	if used := again.account.Usage; used.InputTokens != 10 || used.OutputTokens != 5 {
		t.Errorf("%q: %+v", options, used)
	}
	if _, err := os.Stat(last); slices.Contains(options, "-o") != (err == nil) {
		t.Errorf("%q: %v", options, err)
	}
}

// A prompt arrives whole, however long it is and whatever it begins with.
func TestReal_Prompts(t *testing.T) {
	each(t, func(t *testing.T, cli string) {
		var tests []func(t *testing.T)
		for i, prompt := range []string{"-m is no option", "/review 12", " two\nlines\n\n", strings.Repeat("é", 100_000) + "END", strings.Repeat("x", 1<<20)} {
			if !clitest.OneOf(2, i) {
				continue
			}
			tests = append(tests, func(t *testing.T) {
				d := newSandbox(t, cli, "200")
				d.run(agent.Turn{Prompt: &prompt}, nil, "exec", quick).is(t, verdict.OK)
				d.heard(prompt)
			})
		}
		for _, size := range []int{agent.MaxArgument, 100_000} {
			tests = append(tests, func(t *testing.T) {
				d := newSandbox(t, cli, "200")
				long := strings.Repeat("x", size-3) + "END"
				d.run(agent.Turn{}, nil, "exec", quick, long).is(t, verdict.OK)
				d.heard(long)
			})
		}
		together(t, tests...)
	})
}

// A prompt and stdin are put together as codex does, also where we have to do it.
func TestReal_PromptAndStdin(t *testing.T) {
	each(t, func(t *testing.T, cli string) {
		var tests []func(t *testing.T)
		for i, piped := range []string{"piped", "\n piped\n\n", " \n"} {
			for j, own := range []string{"short", strings.Repeat("x", 20_000)} {
				if !clitest.OneOf(2, i+j) {
					continue
				}
				tests = append(tests, func(t *testing.T) {
					d := newSandbox(t, cli, "200x2")
					d.bare(piped, "exec", quick, own)
					told := d.api.Main()[0].LastMessage
					d.run(agent.Turn{Stdin: []byte(piped)}, nil, "exec", quick, own).is(t, verdict.OK)
					d.heard(told)
				})
			}
		}
		together(t, tests...)
	})
}

// One that is killed in a tool is resumed where it was, and what it has spent is known.
func TestReal_ResumesAfterKill(t *testing.T) {
	each(t, func(t *testing.T, cli string) {
		d := newSandbox(t, cli, "tool(bash: exec sleep 60), 200(in=10, out=5)")
		args := []string{"exec", quick, "--dangerously-bypass-approvals-and-sandbox", "work"}
		killed := d.run(agent.Turn{}, func(n agent.LineInfo, p *os.Process) {
			if n.Tools > 0 {
				d.spent() // it writes that down while the tool runs
				p.Kill()
			}
		}, args...)
		killed.is(t, verdict.Crash)
		charged := d.api.Main()[0].Usage
		// 0.150 writes it down only after the tool.
		if used := killed.account.Usage; !killed.account.Active || strings.HasSuffix(t.Name(), "newest") && (used.InputTokens != int64(charged.Input) || used.OutputTokens == 0) {
			t.Errorf("%+v, charged %+v", killed.account, charged)
		}
		goOn := "Continue where you left off."
		again := d.run(agent.Turn{Session: killed.account.Session, Continue: true, Prompt: &goOn, Stdin: []byte("no")}, nil, args...)
		again.is(t, verdict.OK)
		d.heard(goOn)
		if used := again.account.Usage; again.account.Session != killed.account.Session || used.InputTokens != 10 || used.OutputTokens != 5 {
			t.Errorf("%+v", again.account)
		}
	})
}

// What each model call has used is told while codex works, before the next one has ended, with its price.
func TestReal_Turns(t *testing.T) {
	each(t, func(t *testing.T, cli string) {
		d := newSandbox(t, cli, `tool(bash: "sleep 0.3", in=1000, out=20), tool(bash: "sleep 0.3", in=2000, out=30, cache-read=500), 200(in=3000, out=40)`)
		var told verdict.Usage
		early := false
		a := d.run(agent.Turn{}, func(n agent.LineInfo, _ *os.Process) {
			if n.Turn != nil {
				told = told.Add(*n.Turn)
			}
			early = early || told.OutputTokens == 20 || told.OutputTokens == 50
		}, "exec", quick, "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5.6-terra", "work")
		a.is(t, verdict.OK)
		used := a.account.Priced()
		want := (6000*2 + 500*0.2 + 90*12) / 1e6
		if !early || used.CostUSD == nil || math.Abs(*used.CostUSD-want) > 1e-9 || !used.Estimated || a.account.Model != "gpt-5.6-terra" {
			t.Errorf("early %v, told %+v, used %+v, want %v", early, told, used, want)
		}
	})
}

// SIGINT in a tool ends it at once and silently.
func TestReal_Interrupted(t *testing.T) {
	each(t, func(t *testing.T, cli string) {
		d := newSandbox(t, cli, "tool(bash: exec sleep 60), 200")
		a := d.run(agent.Turn{}, func(n agent.LineInfo, p *os.Process) {
			if n.Tools > 0 {
				p.Signal(os.Interrupt)
			}
		}, "exec", quick, "work")
		a.is(t, verdict.Interrupted)
	})
}

// A bad key is hopeless from its first retry on.
func TestReal_BadKey(t *testing.T) {
	each(t, func(t *testing.T, cli string) {
		d := newSandbox(t, cli, "401x*")
		hopeless := 0
		d.run(agent.Turn{}, func(n agent.LineInfo, p *os.Process) {
			if n.Answered || n.Show == agent.Hold && hopeless == 0 {
				t.Errorf("%+v", n)
			}
			if n.Retrying != nil && n.Retrying.Hopeless && n.Retrying.Verdict.Class == verdict.Auth {
				hopeless++
				p.Signal(os.Interrupt)
			}
		}, "exec", quick, "hi")
		if n := len(d.api.Main()); hopeless == 0 || n > 2 {
			t.Errorf("hopeless %d times, %d requests", hopeless, n)
		}
	})
}

// Real failures are what they are, and what codex does about them by itself is seen.
func TestReal_Failures(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script   string
		class    verdict.Class
		requests int
	}{
		"throttled, then fine":  {"429(retry-after=1)x2, 200", verdict.OK, 3},
		"usage limit":           {"usage-limit(resets=3h)", verdict.UsageLimit, 1},
		"at capacity":           {"overloaded x*", verdict.Overloaded, 5},
		"dropped, then fine":    {"drop-mid, 200", verdict.OK, 2},
		"no such model":         {`404(code=model_not_found, message="We have no such thing here")`, verdict.NotFound, 1},
		"bad request":           {`400x*`, verdict.InvalidRequest, 1},
		"quota":                 {"429(code=insufficient_quota, type=insufficient_quota)", verdict.Billing, 1},
		"an answer that quotes": {`200(text="HTTP 429 rate limit exceeded")`, verdict.OK, 1},
	}
	cli := clitest.Codex(t, "")
	var all []func(t *testing.T)
	for name, tt := range tests {
		all = append(all, func(t *testing.T) {
			d := newSandbox(t, cli, tt.script)
			seen := 0
			a := d.run(agent.Turn{}, func(n agent.LineInfo, _ *os.Process) {
				if n.Retrying != nil {
					seen++
				}
			}, "exec", quick, "hi")
			n := len(d.api.Main())
			if a.verdict.Class != tt.class || n != tt.requests || n != 1+seen+a.account.Unseen {
				t.Errorf("%s: %s by %s after %d requests, %d retries seen and %d unseen", name, a.verdict.Class, a.verdict.Rule, n, seen, a.account.Unseen)
			}
		})
	}
	together(t, all...)
}
