package gh_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent/gh"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// ran is what became of a real gh.
type ran struct {
	code           int
	stdout, stderr string // as the user sees them
	wrote          string // all that gh wrote on stderr
	verdict        verdict.Verdict
}

func start(t *testing.T, script string) *rehearse.API {
	t.Helper()
	api, err := rehearse.Start(script)
	must.OK(t, err)
	t.Cleanup(func() { api.Close() })
	return api
}

// heard runs the real gh as its profile wants it, with more in the environment.
func heard(t *testing.T, api *rehearse.API, args []string, more ...string) ran {
	t.Helper()
	return heardFrom(t, clitest.GH(t), api, args, more...)
}

func heardFrom(t *testing.T, path string, api *rehearse.API, args []string, more ...string) ran {
	t.Helper()
	env := slices.Concat(os.Environ(), api.Environ(), more)
	p := gh.New(append([]string{"gh"}, args...), env, "")
	l := p.Listen()
	var user bytes.Buffer
	stderr := l.Stderr(&user)
	r := start1(t, path, append(env, l.Env()...), stderr, args)
	stderr.Close()
	r.stderr = user.String()
	r.verdict = l.Judge(verdict.Outcome{ExitCode: r.code, Stdout: verdict.ExcerptOf(r.stdout), Stderr: verdict.ExcerptOf(r.stderr)}, time.Now())
	return r
}

// bare runs the real gh as it is.
func bare(t *testing.T, api *rehearse.API, args []string, more ...string) ran {
	t.Helper()
	var stderr bytes.Buffer
	r := start1(t, clitest.GH(t), slices.Concat(os.Environ(), api.Environ(), more), &stderr, args)
	r.stderr = stderr.String()
	return r
}

func start1(t *testing.T, path string, env []string, stderr interface{ Write([]byte) (int, error) }, args []string) ran {
	t.Helper()
	cmd := exec.Command(path, args...)
	var stdout, wrote bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Dir = env, &stdout, t.TempDir()
	cmd.Stderr = writers{stderr, &wrote}
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	cmd.Run()
	return ran{code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), wrote: wrote.String()}
}

type writers []interface{ Write([]byte) (int, error) }

func (all writers) Write(p []byte) (int, error) {
	for _, w := range all {
		if _, err := w.Write(p); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// What the user sees is what the bare gh would have shown, byte for byte, whether it works or not.
func TestReal_SameAsBare(t *testing.T) {
	portal := "200(content-type=text/html, body=\"<html>\n* Request took 5ms\ngh: a lie\n* Request at 2026-11-15 06:26:16.1 +0000 UTC m=+0.2\n* Request took 1ms\n</html>\")"
	for name, c := range map[string]struct {
		script, line string
		when         when
	}{
		"issue create":    {"200", "issue create -R o/r -t one -b body", always},
		"issue list":      {"200", "issue list -R o/r", inFull},
		"pr checks":       {"200x2, 404", "pr checks 1 -R o/r", always},
		"pr create":       {"200", "pr create -R o/r -t one -b b --head feature --base main", always},
		"repo view":       {"200", "repo view o/r", inFull},
		"api":             {"200", "api user", inFull},
		"api zen":         {"200", "api zen", always},
		"api paginate":    {"200", "api repos/o/r/labels?per_page=1 --paginate", always},
		"api slurp":       {"200", "api repos/o/r/labels?per_page=2 --paginate --slurp", inFull},
		"api silent":      {"200", "api user --silent", inFull},
		"graphql":         {"200", "api graphql -f query=query($x:Int){viewer{login}} -F x=1", inFull},
		"graphql lie":     {"200", "api graphql -F x=1 -f query=query($x:Int){\n#\n* Request took 5ms\ngh: a lie\nviewer{login}}", always},
		"label create":    {"200", "label create new -R o/r", inFull},
		"unknown flag":    {"200", "issue list --nope", always},
		"unknown command": {"200", "nope", inFull},
		"interactive":     {"200", "issue create -R o/r", always},
		"502":             {"502", "api user", inFull},
		"502 page":        {"502(content-type=text/html, body=<html>oops</html>)", "api user", always},
		"502 porcelain":   {"502", "issue list -R o/r", inFull},
		"404":             {"404", "api user", inFull},
		"401":             {"401", "issue list -R o/r", always},
		"422":             {"200", "api repos/o/r/issues -f body=x", always},
		"rate limited":    {"200(type=RATE_LIMITED)", "issue list -R o/r", always},
		"primary":         {"primary(resets=9s)", "api user", inFull},
		"portal":          {portal, "api user", always},
		"portal graphql":  {portal, "issue list -R o/r", always},
		"cut JSON":        {"end-mid", "issue list -R o/r", always},
		"owner":           {"502x3", "project list --owner x", always},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.when.gh(t)
			words := split(c.line)
			want := bare(t, start(t, c.script), words)
			got := heard(t, start(t, c.script), words)
			if got.code != want.code || got.stdout != want.stdout || got.stderr != want.stderr {
				t.Errorf("exit %d, want %d\nstdout %q\nwant   %q\nstderr %q\nwant   %q\nwrote %q", got.code, want.code, got.stdout, want.stdout, got.stderr, want.stderr, got.wrote)
			}
			if (got.verdict.Class == verdict.OK) != (want.code == 0 && !strings.Contains(want.stdout, "<html")) {
				t.Errorf("%+v", got.verdict)
			}
		})
	}
}

// when says with which gh a case is tried.
type when int

const (
	always     when = iota
	inFull          // with any, but only if every scenario is to run: others show the same
	withPinned      // older versions do it in another way, or lack it
)

// gh is the path of the gh for a case. It skips what is not to run.
func (w when) gh(t *testing.T) string {
	t.Helper()
	switch {
	case w == withPinned:
		return clitest.PinnedGH(t)
	case w == inFull && !clitest.Full():
		t.Skip("only with BELAY_TEST_FULL=1")
	}
	return clitest.GH(t)
}

// split is strings.Fields, but for a query, which is the last of its line.
func split(line string) []string {
	if before, query, ok := strings.Cut(line, "query="); ok && strings.Contains(query, "\n") {
		return append(strings.Fields(before), "query="+query)
	}
	return strings.Fields(line)
}

// Each fault is told apart, with what it says of an effect and of when to come back.
func TestReal_Verdicts(t *testing.T) {
	const create, read, post = "issue create -R o/r -t one -b body", "api user", "api repos/o/r/issues -f title=x"
	const mutation = "api graphql -f query=mutation{createIssue(input:{repositoryId:\"R_o/r\",title:\"t\"}){issue{number}}}"
	for _, c := range []struct {
		line, script string
		class        verdict.Class
		sent         verdict.Sent
		wait         time.Duration // about
		code         int           // of gh
		when         when
	}{
		{create, "200", verdict.OK, verdict.SentYes, 0, 0, always},
		{create, "200, lost", verdict.Network, verdict.SentMaybe, 0, 1, always},
		{create, "200, reset", verdict.Network, verdict.SentMaybe, 0, 1, inFull},
		{create, "reset", verdict.Network, verdict.SentNo, 0, 1, always},
		{create, "refuse", verdict.Network, verdict.SentNo, 0, 1, always},
		{create, "200, lost(502)", verdict.ServerError, verdict.SentMaybe, 0, 1, always},
		{create, "200, 502", verdict.ServerError, verdict.SentMaybe, 0, 1, inFull},
		{create, "502", verdict.ServerError, verdict.SentNo, 0, 1, inFull},
		{create, "200, drop-mid", verdict.Network, verdict.SentMaybe, 0, 1, always},
		{create, "200, end-mid", verdict.BadOutput, verdict.SentYes, 0, 1, always},
		{create, "200, primary(resets=90s)", verdict.RateLimit, verdict.SentNo, 90 * time.Second, 1, always},
		{create, "200, secondary(retry-after=30)", verdict.RateLimit, verdict.SentNo, 30 * time.Second, 1, always},
		{create, "200, secondary", verdict.RateLimit, verdict.SentNo, 0, 1, inFull},
		{create, "200, 429(retry-after=7)", verdict.RateLimit, verdict.SentNo, 7 * time.Second, 1, inFull},
		{create, "200, 200(type=RATE_LIMITED)", verdict.RateLimit, verdict.SentNo, 0, 1, always},
		{create, `200, 200(type=UNPROCESSABLE, message="was submitted too quickly")`, verdict.RateLimit, verdict.SentNo, 0, 1, inFull},
		{create, "200, 200(type=FORBIDDEN)", verdict.Auth, verdict.SentNo, 0, 1, inFull},
		{create, "200(type=NOT_FOUND)", verdict.NotFound, verdict.SentNo, 0, 1, inFull},
		{create, `200, 200(message="Something went wrong while executing your query.")`, verdict.ServerError, verdict.SentMaybe, 0, 1, always},
		{create + " -a octo", "200x2, secondary(retry-after=30)", verdict.RateLimit, verdict.SentYes, 30 * time.Second, 1, withPinned}, // the issue is there
		{create, "401", verdict.Auth, verdict.SentNo, 0, 1, always},
		{create, "200, 422", verdict.InvalidRequest, verdict.SentNo, 0, 1, inFull},
		{create, "200, 200(content-type=text/html, body=<html></html>)", verdict.BadOutput, verdict.SentYes, 0, 1, inFull},

		{read, "200", verdict.OK, verdict.SentNo, 0, 0, inFull},
		{read, "drop-mid", verdict.Network, verdict.SentNo, 0, 0, always}, // with the trace on, gh's exit 1 is lost
		{read, "end-mid", verdict.BadOutput, verdict.SentNo, 0, 0, inFull},
		{read, "200(content-type=text/html, body=<html></html>)", verdict.BadOutput, verdict.SentNo, 0, 0, inFull},
		{read, "garbage", verdict.BadOutput, verdict.SentNo, 0, 0, always},
		{read, "primary(resets=90s)", verdict.RateLimit, verdict.SentNo, 90 * time.Second, 1, inFull},
		{read, "503", verdict.ServerError, verdict.SentNo, 0, 1, inFull},
		{read, "503(message=overloaded)", verdict.Overloaded, verdict.SentNo, 0, 1, always},
		{read, "403", verdict.Auth, verdict.SentNo, 0, 1, always},
		{read, "403(x-ratelimit-remaining=0)", verdict.Auth, verdict.SentNo, 0, 1, inFull},
		{read, "404", verdict.NotFound, verdict.SentNo, 0, 1, always},
		{read, "451", verdict.Refused, verdict.SentNo, 0, 1, inFull},
		{read + " --silent", "200(content-type=application/json, body=<html>)", verdict.BadOutput, verdict.SentNo, 0, 0, always},
		{read + " --verbose", "primary(resets=90s)", verdict.RateLimit, verdict.SentNo, 90 * time.Second, 1, withPinned},
		{read + " -i", "primary(resets=90s)", verdict.RateLimit, verdict.SentNo, 90 * time.Second, 1, always},
		{read + " --jq .login", "429(retry-after=7)", verdict.RateLimit, verdict.SentNo, 7 * time.Second, 1, always},
		{"api repos/o/r/labels?per_page=1 --paginate", "200, secondary(retry-after=3)", verdict.RateLimit, verdict.SentNo, 3 * time.Second, 1, inFull},
		{"api repos/o/r/labels?per_page=1 --paginate", "200, drop-mid", verdict.Network, verdict.SentNo, 0, 0, always},

		{post, "200", verdict.OK, verdict.SentYes, 0, 0, inFull},
		{post, "lost", verdict.Network, verdict.SentMaybe, 0, 1, always},
		{post + " --verbose", "lost", verdict.Network, verdict.SentMaybe, 0, 1, withPinned},
		{post, "drop-mid", verdict.Network, verdict.SentMaybe, 0, 0, inFull},
		{post, "primary(resets=90s)", verdict.RateLimit, verdict.SentNo, 90 * time.Second, 1, inFull},
		{mutation, "200", verdict.OK, verdict.SentYes, 0, 0, inFull},
		{mutation, "lost", verdict.Network, verdict.SentMaybe, 0, 1, always},
		{mutation, "200(type=RATE_LIMITED)", verdict.RateLimit, verdict.SentNo, 0, 1, always},
		{"api graphql -f query={viewer{login}}", "lost", verdict.Network, verdict.SentNo, 0, 1, always},
		{"api graphql -f query={nope}", "200", verdict.InvalidRequest, verdict.SentNo, 0, 1, always},

		{"project list --owner x", "primary(resets=90s)x*", verdict.RateLimit, verdict.SentNo, 90 * time.Second, 1, withPinned},
		{"auth status -h github.localhost", "secondary(retry-after=30)x*", verdict.RateLimit, verdict.SentNo, 30 * time.Second, 1, always},
		{"auth status -h github.localhost", "502x*", verdict.ServerError, verdict.SentNo, 0, 1, inFull},
		{"search issues x", "primary(resets=90s)x*", verdict.RateLimit, verdict.SentNo, 90 * time.Second, 1, always},
		{"issue list --nope", "200", verdict.InvalidRequest, verdict.SentNo, 0, 1, inFull},
		{"issue create -R o/r -t x", "200", verdict.InvalidRequest, verdict.SentNo, 0, 1, always},
		{"issue view 99 -R o/r", "200", verdict.NotFound, verdict.SentNo, 0, 1, always},
	} {
		t.Run(c.line+" "+c.script, func(t *testing.T) {
			t.Parallel()
			r := heardFrom(t, c.when.gh(t), start(t, c.script), strings.Fields(c.line))
			v := r.verdict
			if v.Class != c.class || v.Sent != c.sent || v.Retryable != c.class.Retryable() || r.code != c.code {
				t.Errorf("%s (%s), sent %q, exit %d; want %s, %q, %d\n%s\n%s\n%.3000s", v.Class, v.Rule, v.Sent, r.code, c.class, c.sent, c.code, v.Evidence, r.stderr, r.wrote)
			}
			if wait := v.Hint.Wait(time.Now()); wait > c.wait+2*time.Second || wait < c.wait-45*time.Second {
				t.Errorf("the wait is %v, want %v", wait, c.wait)
			}
			if c.class != verdict.OK && v.Evidence == "" || strings.Contains(v.Evidence, rehearse.Key) {
				t.Errorf("evidence %q", v.Evidence)
			}
			if strings.Contains(r.stderr, "* Request") {
				t.Errorf("the user sees %q", r.stderr)
			}
		})
	}
}

// An error that gh keeps in its cache is said to be there, with the way out: to try again is no use.
func TestReal_Cached(t *testing.T) {
	api := start(t, "429")
	var clear string
	for i := range 2 {
		r := heard(t, api, []string{"api", "user", "--cache", "1h"})
		_, clear, _ = strings.Cut(r.verdict.Evidence, "clear it with: ")
		if v := r.verdict; v.Class != verdict.RateLimit || v.Retryable || clear == "" {
			t.Errorf("run %d: %+v", i, v)
		}
	}
	if n := len(api.Main()); n != 1 {
		t.Errorf("%d requests", n)
	}
	way := exec.Command("sh", "-c", clear) // it differs between versions
	way.Env = slices.Concat(os.Environ(), api.Environ(), []string{"PATH=" + filepath.Dir(clitest.GH(t)) + ":" + os.Getenv("PATH")})
	if out, err := way.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", clear, err, out)
	}
	if r := heard(t, api, []string{"api", "user", "--cache", "1h"}); r.verdict.Class != verdict.OK {
		t.Errorf("after the way out: %+v", r.verdict)
	}
	if r := heard(t, start(t, "502"), []string{"api", "user", "--cache", "1h"}); !r.verdict.Retryable {
		t.Errorf("a 502 is not kept: %+v", r.verdict)
	}
}

// pr checks asks on the side what GitHub can do, and keeps that for a day, errors included.
func TestReal_CachedDetection(t *testing.T) {
	api := start(t, "200, 200x2, 200(type=RATE_LIMITED)x2")
	heard(t, api, strings.Fields("pr create -R o/r -t one -b b --head feature --base main"))
	r := heard(t, api, strings.Fields("pr checks 1 -R o/r"))
	if v := r.verdict; v.Class == verdict.OK || v.Retryable != !strings.Contains(v.Evidence, "clear it with: ") {
		t.Errorf("%+v\n%s", v, r.wrote)
	}
}

// Checks that are not over are an answer, not a failure. Before 2.34 gh does not tell them from checks that have failed.
func TestReal_Pending(t *testing.T) {
	api := start(t, "200")
	heard(t, api, strings.Fields("pr create -R o/r -t one -b b --head pending-x --base main"))
	r := heard(t, api, strings.Fields("pr checks 1 -R o/r"))
	if want := map[int]verdict.Class{1: verdict.Unknown, 8: verdict.OK}[r.code]; r.verdict.Class != want || r.verdict.Retryable || !strings.HasPrefix(r.stdout, "build\tpending\t") {
		t.Errorf("%+v", r)
	}
}

// A user who has asked for the trace sees it, and it is still read.
func TestReal_OwnTrace(t *testing.T) {
	for _, name := range []string{"GH_DEBUG=api", "DEBUG=api"} {
		r := heard(t, start(t, "primary(resets=90s)"), []string{"api", "user"}, name)
		if r.stderr != r.wrote || !strings.Contains(r.stderr, "* Request took ") {
			t.Errorf("%s: the user sees %q", name, r.stderr)
		}
		if r.verdict.Class != verdict.RateLimit || r.verdict.Hint.At.IsZero() {
			t.Errorf("%s: %+v", name, r.verdict)
		}
	}
	create := strings.Fields("issue create -R o/r -t one -b body")
	if r := heard(t, start(t, "200, lost"), create, "GH_DEBUG=1"); r.stderr != r.wrote || r.verdict.Class != verdict.Network || r.verdict.Sent != verdict.SentMaybe {
		t.Errorf("GH_DEBUG=1: %+v", r)
	}
	if r := heard(t, start(t, "200"), []string{"api", "user"}, "GH_DEBUG=0"); r.stderr != "" || r.wrote == "" {
		t.Errorf("GH_DEBUG=0: %q", r.stderr)
	}
}

// Not logged in, and a host that is not there.
func TestReal_NothingSent(t *testing.T) {
	r := heard(t, start(t, "200"), []string{"api", "user"}, "GH_HOST=", "GH_TOKEN=", "HTTP_PROXY=")
	if r.code != 4 || r.verdict.Class != verdict.Auth || r.verdict.Sent != verdict.SentNo {
		t.Errorf("%+v", r)
	}
	if !clitest.IsOffline() {
		return
	}
	args, more := []string{"api", "user"}, []string{"HTTP_PROXY=", "GH_HOST=belay.invalid", "GH_ENTERPRISE_TOKEN=x"}
	r, want := heard(t, start(t, "200"), args, more...), bare(t, start(t, "200"), args, more...)
	if r.verdict.Class != verdict.Network || r.verdict.Sent != verdict.SentNo || r.stderr != want.stderr {
		t.Errorf("%+v\n%q, want %q", r.verdict, r.stderr, want.stderr)
	}
}
