package gh_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/gh"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// bundle is a client of the real gh against a stand-in.
type bundle struct {
	*gh.Client
	api    *rehearse.API
	log    *bytes.Buffer
	delays *[]time.Duration
}

func setup(t *testing.T, script string) bundle {
	t.Helper()
	t.Parallel()
	api, err := rehearse.Start(script)
	must.OK(t, err)
	t.Cleanup(func() { api.Close() })
	b := bundle{api: api, log: new(bytes.Buffer), delays: new([]time.Duration)}
	b.Client = &gh.Client{
		Path: clitest.GH(t), Dir: t.TempDir(), Env: append(os.Environ(), api.Environ()...),
		Logger: slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Runner: belay.Runner{
			Policy:      retry.Policy{MaxRetries: 3, BaseDelay: 50 * time.Millisecond, Jitter: retry.NoJitter},
			LimitBuffer: -1, State: &belay.State{Dir: t.TempDir()},
			Observe: func(e belay.Event) {
				if w, ok := e.(belay.Waiting); ok {
					*b.delays = append(*b.delays, w.Wait)
				}
			},
		},
	}
	return b
}

// requests are those that took a step of the script.
func (b bundle) requests() int { return len(b.api.Main()) }

func user(t *testing.T, b bundle) (*gh.Result, error) {
	t.Helper()
	return b.Run(t.Context(), []string{"api", "user"}, true)
}

func classOf(err error) verdict.Class {
	if e, ok := errors.AsType[*belay.Error](err); ok {
		return e.Verdict.Class
	}
	return ""
}

// The tests that seed 002 asks for, by their names, against the real gh.
func TestSeed002(t *testing.T) {
	t.Run("test_retry_on_502", func(t *testing.T) {
		b := setup(t, "502x2, 200")
		res, err := user(t, b)
		if err != nil || b.requests() != 3 || res.Attempts != 3 || !strings.Contains(res.Stdout, "octo") {
			t.Errorf("%+v, %v after %d requests", res, err, b.requests())
		}
	})
	t.Run("test_retry_on_429", func(t *testing.T) {
		b := setup(t, "429(retry-after=1), 200")
		res, err := user(t, b)
		if err != nil || b.requests() != 2 || res.Waited < time.Second || b.api.Main()[1].Gap < time.Second {
			t.Errorf("%+v, %v after %d requests", res, err, b.requests())
		}
	})
	t.Run("test_retry_on_secondary_rate_limit", func(t *testing.T) {
		b := setup(t, "secondary(retry-after=1), 200")
		res, err := b.Run(t.Context(), []string{"issue", "list", "-R", "o/r"}, true)
		if err != nil || b.requests() != 2 || res.Waited < time.Second {
			t.Errorf("%+v, %v after %d requests", res, err, b.requests())
		}
	})
	t.Run("test_no_retry_on_404", func(t *testing.T) {
		b := setup(t, "404, 200")
		if _, err := user(t, b); classOf(err) != verdict.NotFound || b.requests() != 1 {
			t.Errorf("%v after %d requests", err, b.requests())
		}
	})
	t.Run("test_no_retry_on_401", func(t *testing.T) {
		b := setup(t, "401, 200")
		if _, err := user(t, b); classOf(err) != verdict.Auth || b.requests() != 1 {
			t.Errorf("%v after %d requests", err, b.requests())
		}
	})
	t.Run("test_max_retries_exhausted", func(t *testing.T) {
		b := setup(t, "502x*")
		_, err := user(t, b)
		if !errors.Is(err, retry.ErrExhausted) || classOf(err) != verdict.ServerError || b.requests() != 4 {
			t.Errorf("%v after %d requests", err, b.requests())
		}
		if !strings.Contains(b.log.String(), "level=ERROR") {
			t.Errorf("the log is %s", b.log)
		}
	})
	t.Run("test_retry_disabled", func(t *testing.T) {
		b := setup(t, "502, 200")
		b.Runner.Policy.MaxRetries = retry.None
		if _, err := user(t, b); err == nil || b.requests() != 1 {
			t.Errorf("%v after %d requests", err, b.requests())
		}
	})
	t.Run("test_graphql_rate_limit_error", func(t *testing.T) {
		b := setup(t, "200(type=RATE_LIMITED), 200")
		var viewer struct{ Viewer struct{ Login string } }
		// GitHub does not say for how long: the gate holds all calls for five seconds.
		b.Runner.Gate.Settings.Hold = 300 * time.Millisecond
		err := b.GraphQL(t.Context(), "{ viewer { login } }", nil, &viewer)
		if err != nil || viewer.Viewer.Login != "octo" || b.requests() != 2 {
			t.Errorf("%+v, %v after %d requests", viewer, err, b.requests())
		}
	})
	t.Run("test_graphql_validation_error", func(t *testing.T) {
		b := setup(t, "200")
		err := b.GraphQL(t.Context(), "{ nope }", nil, nil)
		if err == nil || !strings.Contains(err.Error(), "GraphQL error: Field 'nope' doesn't exist on type 'Query'") || classOf(err) != verdict.InvalidRequest || b.requests() != 1 {
			t.Errorf("%v after %d requests", err, b.requests())
		}
	})
	t.Run("test_backoff_delay_increases", func(t *testing.T) {
		b := setup(t, "502x3, 200")
		if _, err := user(t, b); err != nil {
			t.Fatal(err)
		}
		for i, want := range []time.Duration{50, 100, 200} {
			if got := (*b.delays)[i]; got != want*time.Millisecond {
				t.Errorf("delay %d is %v, want %v ms", i, got, int64(want))
			}
		}
	})
	t.Run("test_check_false_skips_retry", func(t *testing.T) {
		b := setup(t, "502, 200")
		res, err := b.Run(t.Context(), []string{"api", "user"}, false)
		if err != nil || res.ExitCode != 1 || res.Verdict.Class != verdict.ServerError || res.Stderr != "gh: Server Error (HTTP 502)\n" || b.requests() != 1 {
			t.Errorf("%+v, %v after %d requests", res, err, b.requests())
		}
	})
}

// Every call is told at debug, every retry at warn with its number, delay and reason.
func TestClient_Log(t *testing.T) {
	b := setup(t, "502, 200")
	if _, err := b.Run(t.Context(), []string{"api", "user", "-H", "Authorization: x"}, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`level=DEBUG msg="running gh" args="api user -H Authorization:…"`,
		`level=WARN msg="gh failed, retrying" attempt=1 of=4 delay=50ms error="GET /user: HTTP 502: Server Error"`,
	} {
		if !strings.Contains(b.log.String(), want) {
			t.Errorf("the log has no %s:\n%s", want, b.log)
		}
	}
}

// standIn is a client of a gh that does no more than fail, for tests that count calls: the real one takes a tenth of a second of CPU.
func standIn(t *testing.T) (*gh.Client, *bytes.Buffer) {
	t.Helper()
	t.Parallel()
	path, err := filepath.Abs(filepath.Join("testdata", "gh"))
	must.OK(t, err)
	log := new(bytes.Buffer)
	return &gh.Client{Path: path, Dir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(log, nil)),
		Runner: belay.Runner{Policy: retry.Policy{MaxRetries: retry.None}, Gate: belay.Gate{Off: true}, State: &belay.State{Dir: t.TempDir()}}}, log
}

// answer is what becomes of a call that GitHub answers with that status.
func answer(t *testing.T, c *gh.Client, status int) error {
	t.Helper()
	c.Env = append(os.Environ(), "STATUS="+strconv.Itoa(status))
	_, err := c.Run(t.Context(), []string{"api", "user"}, true)
	return err
}

// Calls that fail in a row are warned of from the seventh on, and the tenth is the last.
func TestClient_Breaker(t *testing.T) {
	c, log := standIn(t)
	for i := 1; i <= 10; i++ {
		err := answer(t, c, 502)
		if errors.Is(err, gh.ErrTripped) != (i == 10) || classOf(err) != verdict.ServerError {
			t.Errorf("call %d: %v", i, err)
		}
		if warned := strings.Count(log.String(), "keep failing"); warned != min(3, max(0, i-6)) {
			t.Errorf("after call %d there are %d warnings", i, warned)
		}
		if i == 10 && !strings.Contains(err.Error(), "circuit breaker tripped: 10 consecutive API failures, aborting") {
			t.Errorf("%v", err)
		}
	}
	if err := answer(t, c, 200); !errors.Is(err, gh.ErrTripped) {
		t.Errorf("then %v", err)
	}
}

// A success, and only that, ends a row; what GitHub does not like neither counts nor ends it.
func TestClient_BreakerRow(t *testing.T) {
	c, _ := standIn(t)
	for i, status := range []int{502, 200, 502, 502, 502, 502, 502, 502, 502, 502, 502, 404} {
		if err := answer(t, c, status); errors.Is(err, gh.ErrTripped) || (err == nil) != (status == 200) {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	if err := answer(t, c, 502); !errors.Is(err, gh.ErrTripped) {
		t.Errorf("a 404 has ended the row: %v", err)
	}
	c = &gh.Client{Path: c.Path, Dir: c.Dir, Runner: c.Runner, Logger: c.Logger, Failures: -1}
	for range 11 {
		if err := answer(t, c, 502); errors.Is(err, gh.ErrTripped) {
			t.Errorf("not counted: %v", err)
		}
	}
}

// What may have been done is not done again, unless it is found not to be there.
func TestClient_Effects(t *testing.T) {
	create := []string{"issue", "create", "-R", "o/r", "-t", "one", "-b", "body"}
	t.Run("left open", func(t *testing.T) {
		b := setup(t, "200, lost")
		_, err := b.Run(t.Context(), create, true)
		if !errors.Is(err, belay.ErrMayBeDone) || len(b.api.GitHub().Issues()) != 1 || b.requests() != 2 {
			t.Errorf("%v; %+v", err, b.api.GitHub().Issues())
		}
	})
	for script, name := range map[string]string{"200, lost": "found", "200, reset": "absent"} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, script)
			b.Runner.Effects.Verify = true
			res, err := b.Run(t.Context(), create, true)
			if err != nil || res.Stdout != "http://github.localhost/o/r/issues/1\n" || len(b.api.GitHub().Issues()) != 1 {
				t.Errorf("%+v, %v; %+v", res, err, b.api.GitHub().Issues())
			}
		})
	}
}

func TestClient_JSON(t *testing.T) {
	b := setup(t, "200, 200(content-type=text/html, body=<html></html>)x2, 200")
	var who struct{ Login string }
	if err := b.JSON(t.Context(), []string{"api", "user"}, &who); err != nil || who.Login != "octo" {
		t.Errorf("%+v, %v", who, err)
	}
	if err := b.JSON(t.Context(), []string{"api", "user"}, &who); classOf(err) != verdict.BadOutput {
		t.Errorf("a web page: %v", err)
	}
	if err := b.JSON(t.Context(), []string{"api", "user", "--jq", ".login"}, &who); err == nil {
		t.Error("what is no JSON was decoded")
	}
}

// Variables of every kind reach GitHub, and a query is known from a mutation however it travels.
func TestClient_GraphQL(t *testing.T) {
	b := setup(t, "200x2, lost")
	title := fmt.Sprint("@one of ", os.Getpid())
	var made struct {
		CreateIssue struct{ Issue struct{ Number int } }
	}
	const create = "mutation($input: CreateIssueInput!) { createIssue(input: $input) { issue { number } } }"
	input := map[string]any{"input": map[string]any{"repositoryId": "R_o/r", "title": title, "labelIds": []string{}}}
	if err := b.GraphQL(t.Context(), create, input, &made); err != nil || made.CreateIssue.Issue.Number != 1 {
		t.Errorf("%+v, %v", made, err)
	}
	var found struct {
		Repository struct{ Issue struct{ Title string } }
	}
	const read = "query($owner: String!, $name: String!, $n: Int!) { repository(owner: $owner, name: $name) { issue(number: $n) { title } } }"
	if err := b.GraphQL(t.Context(), read, map[string]any{"owner": "o", "name": "r", "n": 1}, &found); err != nil || found.Repository.Issue.Title != title {
		t.Errorf("%+v, %v", found, err)
	}
	if err := b.GraphQL(t.Context(), create, input, nil); !errors.Is(err, belay.ErrMayBeDone) {
		t.Errorf("a lost mutation: %v", err)
	}
	// The files of others that run at the same time are there too.
	list, err := filepath.Glob(filepath.Join(os.TempDir(), "belay-graphql-*"))
	must.OK(t, err)
	for _, name := range list {
		if data, _ := os.ReadFile(name); strings.Contains(string(data), title) {
			t.Errorf("%s is left", name)
		}
	}
}

func TestClient_NotInstalled(t *testing.T) {
	c := &gh.Client{Path: "/nowhere/gh", Logger: slog.New(slog.DiscardHandler), Runner: belay.Runner{State: &belay.State{Dir: t.TempDir()}}}
	for _, check := range []bool{true, false} {
		if _, err := c.Run(t.Context(), []string{"api", "user"}, check); classOf(err) != verdict.ToolMissing {
			t.Errorf("%v", err)
		}
	}
}
