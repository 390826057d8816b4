//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/test/must"
)

// How a scripted gh ends: the body of a shell script that has counted its start, and the exit code that belay then ends with.
type ending struct {
	script string
	code   int
}

// said is a gh that prints words and ends with 1. GH_DEBUG has got lost on the way to it, as in a container.
func said(words string) ending {
	return ending{"cat >&2 <<'END'\n" + words + "\nEND\nexit 1", 1}
}

// traced is a gh that also prints its trace: the parts are traces of one request or words, in the order of their printing.
func traced(parts ...string) ending {
	return ending{"cat >&2 <<END\n" + strings.Join(parts, "\n") + "\nEND\nexit 1", 1}
}

// The traces of one request. A stamp is what the shell makes of it.
const (
	stampNow    = "$(date -u '+%Y-%m-%d %H:%M:%S.%N') +0000 UTC m=+0.019396133"
	stampLater  = "$(date -u -d '1 hour' '+%Y-%m-%d %H:%M:%S.%N') +0000 UTC m=+0.019396133"
	stampBefore = "$(date -u -d '1 hour ago' '+%Y-%m-%d %H:%M:%S.%N') +0000 UTC m=+0.019396133"

	tracedPost  = "* Request to https://api.github.com/graphql\n> POST /graphql HTTP/1.1\n> Host: api.github.com\n> Content-Type: application/json\n\nGraphQL query:\n"
	tracedQuery = tracedPost + "query IssueRepositoryInfo { a }\nGraphQL variables: {}\n\n"
	answered    = "< HTTP/1.1 200 OK\n< Content-Type: application/json\n\n{\n  \"data\": null\n}\n\n* Request took 5ms"
	answered502 = "< HTTP/1.1 502 Bad Gateway\n< Content-Type: application/json\n\n{\n  \"message\": \"Server Error\"\n}\n\n* Request took 5ms"
)

func begun(stamp, request string) string { return "* Request at " + stamp + "\n" + request }

// The ends of a change that leave open whether it was made.
var (
	saysEOF     = said(`Post "https://api.github.com/graphql": EOF`)
	says502     = said(`HTTP 502: 502 Bad Gateway (https://api.github.com/graphql)`)
	saysReset   = said(`Post "https://api.github.com/graphql": read tcp 10.0.0.1:5->140.82.112.6:443: read: connection reset by peer`)
	saysRefused = said(`Post "https://api.github.com/graphql": dial tcp 140.82.112.6:443: connect: connection refused`)
	saysNoHost  = said("error connecting to api.github.com\ncheck your internet connection or https://githubstatus.com")

	dies        = ending{"kill -KILL $$", 137}
	saysNothing = ending{"exit 1", 1}
	hangs       = ending{"exec sleep 60", 124}
)

// script makes a gh that ends so, under any name. A question after the limit is no start of it.
func (r *run) script(name string, e ending) {
	r.t.Helper()
	path := filepath.Join(r.dir, "bin", name)
	os.MkdirAll(filepath.Dir(path), 0o700)
	must.OK(r.t, built.WriteFile(path, []byte("#!/bin/sh\ncase $* in *rate_limit*) ;; *) echo x >> "+filepath.Join(r.dir, "starts")+" ;; esac\n"+e.script+"\n")))
}

// gh runs belay with these arguments and the scripted CLIs first on the PATH, and returns how often they were started, how
// belay ended, and what was to be seen.
func (r *run) gh(env []string, args ...string) (starts, code int, stdout, stderr string) {
	r.t.Helper()
	cmd := r.command("belay", args...)
	cmd.Env = append(cmd.Env, "PATH="+filepath.Join(r.dir, "bin")+":"+programs(r.t)+":"+os.Getenv("PATH"), "GH_TOKEN=x",
		"BELAY_BASE_DELAY=0", "BELAY_JITTER=none", "BELAY_MAX_WAIT=2s", "BELAY_NO_GATE=true")
	cmd.Env = append(cmd.Env, env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	code = shellCode(cmd.Run())
	file := filepath.Join(r.dir, "starts")
	text, _ := os.ReadFile(file)
	os.Remove(file)
	return bytes.Count(text, []byte("\n")), code, out.String(), errs.String()
}

const issueCreate = "gh issue create -R o/r -t one -b body"

// A change that may have been made is not made again, whatever was said of retries; the command's exit code stays, and the way
// out is said.
func TestGH_NotRepeated(t *testing.T) {
	flags := []string{"", "--max-retries 2", "--retry-on-exit 1,137", "--retry-on .", "--preset aggressive", "--stream --max-retries 2"}
	asked := flags[1:]
	trace := func(parts ...string) ending {
		return traced(append(parts, `Post "https://api.github.com/graphql": EOF`)...)
	}
	old := traced("* Request at 2020-01-02 03:04:05.6 +0000 UTC m=+0.7\n"+tracedQuery+answered502, "HTTP 502: Server Error (https://api.github.com/graphql)")
	for name, c := range map[string]struct {
		ending
		flags    []string
		commands []string
		quiet    bool // it would not be repeated in any case, so that there is nothing to say
	}{
		"EOF":               {saysEOF, flags, []string{issueCreate, "gh issue create -R o/r --title=--help --body x", "gh issue create -R o/r -t --help -b x", "gh api repos/o/r/issues -f title=x", "gh api -X POST repos/o/r/issues", "gh api graphql -f query=mutation{a}"}, false},
		"502":               {says502, flags, []string{issueCreate}, false},
		"reset":             {saysReset, flags, []string{issueCreate}, false},
		"death by signal":   {dies, flags, []string{issueCreate}, true},
		"silence":           {saysNothing, flags, []string{issueCreate}, true},
		"a stamp before":    {trace(begun(stampBefore, tracedQuery+answered), begun(stampBefore, tracedQuery+"* EOF\n* Request took 5ms")), flags, []string{issueCreate}, false},
		"a stamp after":     {trace(begun(stampLater, tracedQuery+answered), begun(stampLater, tracedQuery+"* EOF\n* Request took 5ms")), flags, []string{issueCreate}, false},
		"an old trace":      {trace("* Request at 2020-01-02 03:04:05.6 +0000 UTC m=+0.7\n" + tracedQuery + answered), flags, []string{issueCreate}, false},
		"the clock is set":  {trace(begun(stampNow, tracedQuery+answered), begun(stampBefore, tracedQuery+"* EOF\n* Request took 5ms")), flags, []string{issueCreate}, false},
		"the first of two":  {trace(begun(stampNow, tracedQuery+answered)), flags, []string{issueCreate}, false},
		"cut off":           {trace(begun(stampNow, tracedQuery+answered), begun(stampNow, "* Request to https://api.github.com/graphql")), flags, []string{issueCreate}, false},
		"cut off later":     {trace(begun(stampNow, tracedQuery+answered), begun(stampNow, tracedQuery)), flags, []string{issueCreate}, false},
		"vague":             {trace(begun(stampNow, "* Request to https://api.github.com/graphql\n* Request took 5ms"), begun(stampNow, "* Request to https://api.github.com/graphql\n* EOF\n* Request took 5ms")), flags, []string{issueCreate}, false},
		"of another call":   {trace(begun(stampNow, "* Request to https://api.github.com/user\n> GET /user HTTP/1.1\n> Host: x\n\n"+answered502)), flags, []string{issueCreate}, false},
		"of another limit":  {trace(begun(stampNow, "* Request to https://api.github.com/user\n> GET /user HTTP/1.1\n> Host: x\n\n"+strings.Replace(answered502, "502 Bad Gateway", "429 Too Many Requests", 1))), flags, []string{issueCreate}, false},
		"no beginnings":     {trace(begun(stampNow, tracedQuery+answered), tracedQuery+"* EOF\n* Request took 5ms"), flags, []string{issueCreate}, false},
		"no ends":           {trace(begun(stampNow, tracedQuery), begun(stampNow, tracedQuery)), flags, []string{issueCreate}, false},
		"no methods":        {trace(begun(stampNow, tracedQuery+answered), begun(stampNow, strings.Replace(tracedQuery, "> POST /graphql HTTP/1.1\n", "", 1)+"* EOF\n* Request took 5ms")), flags, []string{issueCreate}, false},
		"a flood":           {ending{"for i in 1 2 3 4 5 6; do head -c 100000 /dev/zero | tr '\\0' x; echo; done >&2\n" + saysEOF.script, 1}, flags[:2], []string{issueCreate}, false},
		"silent afterwards": {ending{"cat >&2 <<END\n" + begun(stampNow, tracedQuery+answered) + "\nEND\nexit 1", 1}, flags, []string{issueCreate}, true},
		"a limit later":     {said("HTTP 403: API rate limit exceeded for user ID 1. (https://api.github.com/graphql)"), flags, []string{issueCreate + " -a octo", "gh pr create --fill", "gh release create v1 -n x a.zip"}, false},
		"refused later":     {saysRefused, flags, []string{issueCreate + " -a octo", "gh pr edit 1 --add-label x", "gh release create v1 -n x a.zip", "gh pr merge 1 -sd"}, false},
		"a web page":        {ending{"echo '<!DOCTYPE html>'", 1}, flags, []string{"gh api repos/o/r/issues -f title=x"}, false},
		"half of it":        {ending{"echo '{\"data\":{\"a\":{\"id\":1},\"b\":null},\"errors\":[{\"type\":\"RATE_LIMITED\",\"message\":\"API rate limit exceeded\"}]}'\necho 'gh: API rate limit exceeded' >&2\nexit 1", 1}, flags, []string{"gh api graphql -f query=mutation{a,b}"}, false},
		"an old failure":    {old, flags, []string{issueCreate}, false},
		"an old one too":    {old, asked, []string{"gh pr merge 1", "gh issue create -R o/r -t one -b body --editor", "gh release create v1"}, false},
		"treated as others": {says502, asked, []string{"gh pr merge 1", "gh pr merge 1 --squash", "gh release create v1", "gh issue create", "gh issue create --web", "gh some-extension", "gh some-extension --title --help", "gh some-extension --help", "gh co 12", "gh secret remove x", "gh issue nope", "gh codespace create", "gh extension exec x", "gh copilot"}, false},
		"refused to others": {saysRefused, asked, []string{"gh some-extension", "gh co 12"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			r.script("gh", c.ending)
			for i, command := range c.commands {
				for j, f := range c.flags {
					if name != "EOF" && !clitest.OneOf(3, len(name)+i+j) {
						continue // every day each ending has two of the flags, and EOF has all
					}
					args := slices.Concat([]string{"run"}, strings.Fields(f), []string{"--"}, strings.Fields(command))
					starts, code, _, stderr := r.gh(nil, args...)
					if starts != 1 || code != c.code || !c.quiet && !strings.Contains(stderr, "use --retry-unsafe") && !strings.Contains(stderr, "or --retry-unsafe") {
						t.Errorf("belay %s: %d starts, exit %d\n%.2000s", strings.Join(args, " "), starts, code, stderr)
					}
				}
			}
		})
	}
}

// A deadline or a stall leaves it open too.
func TestGH_NotRepeatedInTime(t *testing.T) {
	for _, command := range []string{issueCreate, "gh pr merge 1", "gh some-extension"} {
		for _, flags := range []string{"--timeout 1s", "--timeout 1s --retry-timeouts 2", "--timeout 1s --retry-timeouts 2 --max-retries 3", "--stall-timeout 1s --max-retries 2"} {
			t.Run(command+" "+flags, func(t *testing.T) {
				t.Parallel()
				r := newRun(t, 0)
				r.script("gh", hangs)
				args := slices.Concat([]string{"run"}, strings.Fields(flags), []string{"--"}, strings.Fields(command))
				starts, code, _, stderr := r.gh(nil, args...)
				if starts != 1 || code != 124 || strings.Contains(flags, "retr") != strings.Contains(stderr, "--retry-unsafe") {
					t.Errorf("%d starts, exit %d\n%s", starts, code, stderr)
				}
			})
		}
	}
}

// However gh is reached, it is known what it may have done.
func TestGH_NotRepeatedUnderAnyName(t *testing.T) {
	r := newRun(t, 0)
	for _, name := range []string{"gh", "gh.exe", "mine"} {
		r.script(name, says502)
	}
	path := filepath.Join(r.dir, "bin", "gh")
	for _, line := range []string{
		"-- " + path + " issue create -R o/r -t one -b body",
		"-- " + path + " pr merge 1",
		"-- gh.exe issue create -R o/r -t one -b body",
		"-- gh.exe pr merge 1",
		"--profile gh -- gh pr merge 1",
		"--profile gh -- gh some-extension",
		"--profile gh -- mine issue create -R o/r -t one -b body",
		"--profile gh -- mine pr merge 1",
		"--profile gh -- env gh issue create -R o/r -t one -b body",
		"--profile gh -- env A=b gh pr merge 1",
	} {
		for _, flags := range []string{"--max-retries 2", "--retry-on-exit 1"} {
			args := slices.Concat([]string{"run"}, strings.Fields(flags), strings.Fields(line))
			if starts, code, _, stderr := r.gh(nil, args...); starts != 1 || code != 1 || !strings.Contains(stderr, "--retry-unsafe") {
				t.Errorf("belay %s: %d starts, exit %d\n%s", strings.Join(args, " "), starts, code, stderr)
			}
		}
	}
}

// A rule of the user's that calls a failure worth repeating knows nothing of what has been done.
func TestGH_NotRepeatedByRule(t *testing.T) {
	r := newRun(t, 0)
	r.script("gh", said("oh no"))
	config := filepath.Join(r.dir, "config", "belay", "config.toml")
	os.MkdirAll(filepath.Dir(config), 0o700)
	for _, rule := range []string{"class = \"network\"", "class = \"unknown\"\nretryable = true", "class = \"network\"\nprofile = \"gh\""} {
		must.OK(t, os.WriteFile(config, []byte("[[rule]]\nname = \"ours\"\nmatch = \"oh no\"\n"+rule+"\n"), 0o600))
		for _, command := range []string{issueCreate, "gh pr merge 1", "gh some-extension"} {
			args := slices.Concat([]string{"run", "--retry-on-exit", "1", "--"}, strings.Fields(command))
			if starts, code, _, stderr := r.gh(nil, args...); starts != 1 || code != 1 || !strings.Contains(stderr, "--retry-unsafe") {
				t.Errorf("%s with %q: %d starts, exit %d\n%s", command, rule, starts, code, stderr)
			}
		}
	}
}

// What reads, what surely was not sent, and what the user calls safe, is repeated as ever.
func TestGH_Repeated(t *testing.T) {
	trace := traced(begun(stampNow, tracedQuery+answered502), "HTTP 502: Server Error (https://api.github.com/graphql)")
	for name, c := range map[string]struct {
		ending
		flags   string
		command string
		starts  int
	}{
		"a list":                    {says502, "", "gh pr list", 4},
		"a list EOF":                {saysEOF, "", "gh pr list", 4},
		"api":                       {saysEOF, "", "gh api user", 4},
		"api by method":             {says502, "", "gh api -X GET search/issues -f q=x", 4},
		"a query":                   {saysEOF, "", "gh api graphql -f query={viewer{login}}", 4},
		"a list by exit code":       {saysNothing, "--retry-on-exit 1", "gh pr list", 4},
		"a list hung":               {hangs, "--timeout 1s --retry-timeouts 1", "gh pr list", 2},
		"in the browser":            {says502, "--max-retries 2", "gh pr view 1 --web", 3},
		"asked which":               {says502, "--max-retries 2", "gh run watch", 3},
		"behind another":            {says502, "--profile gh", "env A=b gh pr list", 4},
		"gone":                      {saysRefused, "", issueCreate, 4},
		"no name":                   {saysNoHost, "", issueCreate, 4},
		"gone asked":                {saysRefused, "--max-retries 2", issueCreate, 3},
		"gone merge":                {saysRefused, "--max-retries 2", "gh pr merge 1", 3},
		"gone release":              {saysRefused, "", "gh release create v1 -n x", 4},
		"gone release asked":        {saysRefused, "--max-retries 2", "gh release create v1", 3},
		"gone by rule of exit code": {saysRefused, "--retry-on-exit 1", "gh pr merge 1", 4},
		"no such command":           {said(`unknown command "nope" for "gh"`), "--max-retries 2", "gh nope", 3},
		"traced":                    {trace, "", issueCreate, 4},
		"traced asked":              {trace, "--max-retries 2", issueCreate, 3},
		"unsafe":                    {saysEOF, "--retry-unsafe", issueCreate, 4},
		"unsafe asked":              {says502, "--retry-unsafe --max-retries 2", issueCreate, 3},
		"unsafe merge":              {says502, "--retry-unsafe --max-retries 2", "gh pr merge 1", 3},
		"unsafe release":            {says502, "--retry-unsafe --retry-on-exit 1", "gh release create v1", 4},
		"unsafe extension":          {says502, "--retry-unsafe --max-retries 2", "gh some-extension", 3},
		"unsafe hung":               {hangs, "--retry-unsafe --timeout 1s --retry-timeouts 1", issueCreate, 2},
		"no profile":                {says502, "--profile generic --max-retries 2", "gh pr merge 1", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			r.script("gh", c.ending)
			args := slices.Concat([]string{"run"}, strings.Fields(c.flags), []string{"--"}, strings.Fields(c.command))
			if starts, _, _, stderr := r.gh(nil, args...); starts != c.starts {
				t.Errorf("belay %s: %d starts, want %d\n%s", strings.Join(args, " "), starts, c.starts, stderr)
			}
		})
	}
	t.Run("the user's own trace", func(t *testing.T) {
		r := newRun(t, 0)
		r.script("gh", trace)
		for debug, want := range map[string]int{"GH_DEBUG=api": 4, "DEBUG=api": 4, "GH_DEBUG=0": 4} {
			if starts, _, _, stderr := r.gh([]string{debug}, append([]string{"run", "--"}, strings.Fields(issueCreate)...)...); starts != want {
				t.Errorf("%s: %d starts\n%s", debug, starts, stderr)
			}
		}
	})
}

// Two streams that go to one file say no less.
func TestGH_OneFile(t *testing.T) {
	r := newRun(t, 0)
	for e, want := range map[ending]int{saysRefused: 3, saysEOF: 1} {
		r.script("gh", e)
		for _, command := range []string{"gh pr merge 1", issueCreate} {
			args := "exec belay run --max-retries 2 -- " + command + " > log 2>&1"
			cmd := r.command("sh", "-c", args)
			cmd.Env = append(cmd.Env, "PATH="+filepath.Join(r.dir, "bin")+":"+programs(r.t)+":"+os.Getenv("PATH"), "GH_TOKEN=x", "BELAY_BASE_DELAY=0", "BELAY_JITTER=none", "BELAY_MAX_WAIT=2s", "BELAY_NO_GATE=true")
			cmd.Run()
			text, _ := os.ReadFile(filepath.Join(r.dir, "starts"))
			os.Remove(filepath.Join(r.dir, "starts"))
			if starts := strings.Count(string(text), "\n"); starts != want {
				log, _ := os.ReadFile(filepath.Join(r.dir, "log"))
				t.Errorf("%s: %d starts, want %d\n%s", args, starts, want, log)
			}
		}
	}
}

// What was made is found and counts as done; what is not there is made.
func TestGH_Verified(t *testing.T) {
	for name, there := range map[string]bool{issueCreate: true, issueCreate + " ": false, issueCreate + " --editor": true, issueCreate + "  --editor": false} {
		t.Run(fmt.Sprint(strings.Contains(name, "editor"), there), func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			list := "[]"
			if there {
				list = `[{"title":"one","body":"body","url":"https://github.localhost/o/r/issues/7","createdAt":"'$(date -u +%Y-%m-%dT%H:%M:%SZ)'","author":{"login":"octo"}}]`
			}
			r.script("gh", ending{script: `case "$*" in
*rate_limit*) date -u '+Date: %a, %d %b %Y %H:%M:%S GMT' ;;
*"issue list"*) echo '` + list + `' ;;
*viewer*) echo octo ;;
*) grep -q made made 2>/dev/null && { echo made; exit 0; }
   echo made > made
   echo 'Post "https://api.github.com/graphql": EOF' >&2; exit 1 ;;
esac`})
			starts, code, stdout, stderr := r.gh([]string{"GH_HOST=github.localhost"}, append([]string{"run", "--verify-effect", "--max-retries", "2", "--"}, strings.Fields(name)...)...)
			want := map[bool]string{true: "https://github.localhost/o/r/issues/7\n", false: "made\n"}[there]
			if code != 0 || stdout != want {
				t.Errorf("%d starts, exit %d, %q\n%s", starts, code, stdout, stderr)
			}
		})
	}
	t.Run("cannot be looked for", func(t *testing.T) {
		r := newRun(t, 0)
		r.script("gh", says502)
		for _, command := range []string{"gh pr merge 1", "gh release create v1", "gh some-extension"} {
			args := slices.Concat([]string{"run", "--verify-effect", "--max-retries", "2", "--"}, strings.Fields(command))
			if starts, code, _, stderr := r.gh(nil, args...); starts != 1 || code != 1 || !strings.Contains(stderr, "--retry-unsafe") {
				t.Errorf("%s: %d starts, exit %d\n%s", command, starts, code, stderr)
			}
		}
	})
}

// At a terminal gh may ask its user and is treated as any other command; what it may have changed is the same.
func TestGH_Terminal(t *testing.T) {
	t.Parallel()
	s := newShell(t, "")
	s.run(`mkdir bin; printf '#!/bin/sh\necho x >> starts\necho "Post \\"https://api.github.com/graphql\\": $SAY" >&2\nexit 1\n' > bin/gh; chmod +x bin/gh; export PATH=$PWD/bin:$PATH BELAY_BASE_DELAY=0`)
	for line, want := range map[string]string{
		"SAY=EOF belay run --max-retries 2 -- " + issueCreate:                             "1",
		"SAY=EOF belay run --retry-on-exit 1 -- gh pr merge 1":                            "1",
		"SAY=EOF belay run --max-retries 2 -- gh some-extension":                          "1",
		"SAY=EOF belay run --max-retries 2 --retry-unsafe -- " + issueCreate:              "3",
		"SAY='dial tcp: connection refused' belay run --max-retries 2 -- " + issueCreate:  "3",
		"SAY='dial tcp: connection refused' belay run --max-retries 2 -- gh pr merge 1":   "3",
		"SAY='read: connection reset by peer' belay run --max-retries 2 -- gh pr merge 1": "1",
	} {
		said := s.run(line)
		if got := s.run("wc -l < starts; rm starts"); !strings.HasPrefix(got, want+"\r\n") {
			t.Errorf("%s: %q starts, want %s\n%s", line, got, want, said)
		}
	}
}
