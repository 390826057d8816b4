package gh_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/agent/gh"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/test/must"
)

// asker asks the real gh.
func asker(t *testing.T, api *rehearse.API) func(context.Context, ...string) ([]byte, error) {
	path := clitest.GH(t) // here, since only the goroutine of a test can skip it
	return func(ctx context.Context, args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Env = append(os.Environ(), api.Environ()...)
		return cmd.Output()
	}
}

// Whether it was done is found out from GitHub, not from what gh has said.
func TestVerify(t *testing.T) {
	file := filepath.Join(t.TempDir(), "body")
	must.OK(t, os.WriteFile(file, []byte("a body\r\n"), 0o600))
	const issue = "issue create -R o/r -t one -b body"
	const first = "issue create -R o/r -t first -b x"
	for name, c := range map[string]struct {
		before string // a command that works
		script string // from then on
		line   string
		done   string // what it would have printed
		when   when
	}{
		"done":                       {"", "200, lost", issue, "http://github.localhost/o/r/issues/1\n", always},
		"not done":                   {"", "200, reset", issue, "", always},
		"not done, but before":       {issue, "200, reset", issue, "", inFull},
		"done again":                 {issue, "200, lost", issue, "http://github.localhost/o/r/issues/2\n", always},
		"a label, answered 502":      {"", "200x2, lost(502)", "issue create -R o/r -t one -l bug -F " + file, "http://github.localhost/o/r/issues/1\n", always},
		"the looking fails at first": {"", "200, lost, 502, reset", issue, "http://github.localhost/o/r/issues/1\n", inFull},
		"comment":                    {first, "200, lost", "issue comment 1 -R o/r -b hi", "http://github.localhost/o/r/issues/1#issuecomment-1\n", always},
		"no comment":                 {first, "200, reset", "issue comment 1 -R o/r -b hi", "", inFull},
		"pull request":               {"", "200x2, lost", "pr create -R o/r -t one -b b --head feature --base main", "http://github.localhost/o/r/pull/1\n", always},
		"no pull request":            {"", "200x2, reset", "pr create -R o/r -t one -b b --head feature --base main", "", inFull},
		"comment on a pull request":  {"pr create -R o/r -t one -b b --head feature --base main", "200, lost", "pr comment 1 -R o/r -b hi", "http://github.localhost/o/r/pull/1#issuecomment-1\n", always},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.when.gh(t)
			script := c.script
			switch { // what came before took so many requests
			case strings.HasPrefix(c.before, "issue"):
				script = "200x2, " + script
			case strings.HasPrefix(c.before, "pr"):
				script = "200x3, " + script
			}
			api := start(t, script)
			if c.before != "" {
				if r := bare(t, api, strings.Fields(c.before)); r.code != 0 {
					t.Fatalf("%+v", r)
				}
				time.Sleep(2100 * time.Millisecond) // what was made in the same second cannot be told apart
			}
			args := strings.Fields(c.line)
			since := time.Now()
			r := bare(t, api, args)
			if r.code == 0 {
				t.Fatalf("%+v", r)
			}
			p := gh.New(append([]string{"gh"}, args...), slices.Concat(os.Environ(), api.Environ()), "")
			effect, err := p.CallerInfo().Verify(t.Context(), since, asker(t, api))
			if err != nil || effect.Output != c.done || effect.Done != (c.done != "") {
				t.Errorf("%+v, %v", effect, err)
			}
		})
	}
}

// What is there does not always tell whether all of it was done.
func TestVerify_Unsure(t *testing.T) {
	for line, asks := range map[string]int{
		"issue create -R o/r -t one -b body -a octo": 3, // it is there, but was it assigned?
		"issue comment 1 -R o/r -F -":                2, // there is a comment, but what was this one to say?
		"issue comment 1 -R o/r --edit-last -b hi":   0,
		"issue close 1 -R o/r":                       0,
	} {
		asked := 0
		ask := func(_ context.Context, args ...string) ([]byte, error) {
			asked++
			now := time.Now().UTC()
			switch args[0] + " " + args[1] {
			case "api --include":
				return []byte("HTTP/1.1 200 OK\nDate: " + now.Format("Mon, 02 Jan 2006 15:04:05 GMT") + "\r\n\r\n"), nil
			case "issue list":
				return []byte(`[{"title":"one","body":"body","url":"u","createdAt":"` + now.Format(time.RFC3339) + `","author":{"login":"octo"}}]`), nil
			case "issue view":
				return []byte(`{"comments":[{"body":"hi","url":"u","createdAt":"` + now.Format(time.RFC3339) + `","viewerDidAuthor":true}]}`), nil
			}
			return []byte("octo\n"), nil
		}
		verify := gh.New(strings.Fields("gh "+line), nil, "").CallerInfo().Verify
		if asks == 0 && verify == nil {
			continue
		}
		effect, err := verify(t.Context(), time.Now(), ask)
		if err == nil || effect.Done || asked != asks {
			t.Errorf("gh %s: %+v, %v after %d questions", line, effect, err, asked)
		}
	}
}

// GitHub's clock may differ from ours.
func TestVerify_Clock(t *testing.T) {
	p := gh.New(strings.Fields("gh issue create -R github.localhost/o/r -t one -b body"), nil, "")
	for _, ahead := range []time.Duration{0, -time.Hour, time.Hour} {
		theirs := time.Now().Add(ahead).UTC()
		ask := func(_ context.Context, args ...string) ([]byte, error) {
			switch args[0] + " " + args[1] {
			case "api --include":
				return []byte("HTTP/1.1 200 OK\nDate: " + theirs.Format("Mon, 02 Jan 2006 15:04:05 GMT") + "\r\n\r\n"), nil
			case "issue list":
				return []byte(`[{"title":"one","body":"body","url":"u2","createdAt":"` + theirs.Format(time.RFC3339) + `","author":{"login":"app/bot"}},
					{"title":"one","body":"body","url":"u1","createdAt":"` + theirs.Add(-time.Minute).Format(time.RFC3339) + `"}]`), nil
			case "api graphql":
				return []byte("bot[bot]\n"), nil
			}
			return nil, errors.New(strings.Join(args, " "))
		}
		effect, err := p.CallerInfo().Verify(t.Context(), time.Now(), ask)
		if err != nil || effect.Output != "u2\n" {
			t.Errorf("%v ahead: %+v, %v", ahead, effect, err)
		}
		effect, err = p.CallerInfo().Verify(t.Context(), time.Now().Add(10*time.Second), ask)
		if err != nil || effect.Done {
			t.Errorf("%v ahead, made before: %+v, %v", ahead, effect, err)
		}
	}
}

// A moment in which nothing is answered passes: it is looked for again. If it does not pass, that it is not known is an error.
func TestVerify_BadMoment(t *testing.T) { synctest.Test(t, verifyInABadMoment) }

func verifyInABadMoment(t *testing.T) {
	p := gh.New(strings.Fields("gh issue create -R github.localhost/o/r -t one -b body"), nil, "")
	for bad, want := range map[int]string{4: "u\n", 5: ""} {
		ask := func(_ context.Context, args ...string) ([]byte, error) {
			now := time.Now().UTC()
			switch args[0] + " " + args[1] {
			case "api --include":
				return []byte("HTTP/1.1 200 OK\nDate: " + now.Format("Mon, 02 Jan 2006 15:04:05 GMT") + "\r\n\r\n"), nil
			case "issue list":
				if bad--; bad >= 0 {
					return nil, errors.New("connection reset")
				}
				return []byte(`[{"title":"one","body":"body","url":"u","createdAt":"` + now.Format(time.RFC3339) + `","author":{"login":"app/bot"}}]`), nil
			}
			return []byte("bot[bot]\n"), nil
		}
		effect, err := p.CallerInfo().Verify(t.Context(), time.Now(), ask)
		if effect.Output != want || (err == nil) != (want != "") {
			t.Errorf("%+v, %v", effect, err)
		}
	}
}

func TestCheckLimit(t *testing.T) {
	const left = `{"resources":{"core":{"limit":5000,"remaining":0,"reset":1794703852},"graphql":{"limit":5000,"remaining":0,"reset":1794703900},"search":{"limit":30,"remaining":9,"reset":1794703999}}}`
	for line, want := range map[string]int64{
		"gh api user":                   1794703852,
		"gh api graphql -f query={a}":   1794703900,
		"gh issue list":                 1794703900,
		"gh api search/issues?q=x":      1794703900,
		"gh api --hostname ghe.x users": 1794703852,
	} {
		p := gh.New(strings.Fields(line), nil, "")
		var asked []string
		hint, err := p.CallerInfo().CheckLimit(t.Context(), func(_ context.Context, args ...string) ([]byte, error) {
			asked = args
			return []byte(left), nil
		})
		if err != nil || hint.At.Unix() != want {
			t.Errorf("%s: %v, %v", line, hint, err)
		}
		if host := asked[2]; host != map[bool]string{true: "ghe.x", false: "github.com"}[strings.Contains(line, "ghe.x")] {
			t.Errorf("%s: asked %q", line, asked)
		}
	}
}
