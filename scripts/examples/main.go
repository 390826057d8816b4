// examples runs commands that the README and docs show, with the real CLIs, and puts what they print below them.
//
//	make examples
//
// The services are the stand-ins of belay rehearse on loopback; nothing is spent.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/supervise"
)

// example is a session in a shell that a document shows.
type example struct {
	document string
	script   string   // what the stand-ins do, as docs/rehearsal.md describes it
	commands []string // as they are shown
}

var examples = []example{
	{"README.md", `429(retry-after=2), 200(text="The commit adds …")`, []string{`belay run -- claude -p "Review the last commit"`}},
	{"README.md", `usage-limit(resets=3h)`, []string{`belay run -- claude -p "And the one before?"`, `echo $?`}},
	{"docs/run.md", `200`, []string{`belay run --max-retries 3 --timeout 10m -- examples/flaky/flaky`}},
	{"docs/gh.md", `200, lost`, []string{`belay run --verify-effect -- gh issue create -R o/r -t "Title" -b "Body"`}},
	{"docs/run.md", `200`, []string{`belay run --timeout 10m --stall-timeout 2s -- sleep 1h`, `echo $?`}},
	{"docs/run.md", `200`, []string{`belay explain --exit-code 1 --stderr err.txt --retry-on '429'`}},
}

func main() {
	s := stage{}
	flag.StringVar(&s.bin, "bin", "bin", "the directory of belay")
	flag.StringVar(&s.root, "root", ".", "the directory of the repository, with the CLIs in .clis")
	flag.Parse()
	if err := s.renew(); err != nil {
		fmt.Fprintln(os.Stderr, "examples:", err)
		os.Exit(1)
	}
}

// stage is where the examples are run.
type stage struct{ bin, root string }

// renew runs all examples and puts what they print into the documents.
func (s *stage) renew() error {
	for _, e := range examples {
		path := filepath.Join(s.root, e.document)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		printed, err := s.run(e)
		if err != nil {
			return err
		}
		renewed, err := replace(string(text), e.commands, printed)
		if err != nil {
			return fmt.Errorf("%s: %w", e.document, err)
		}
		if err := os.WriteFile(path, []byte(renewed), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// replace puts what the commands have printed below them.
func replace(text string, commands, printed []string) (string, error) {
	done := ""
	for i, command := range commands {
		before, rest, found := strings.Cut(text, "$ "+command+"\n")
		if !found {
			return "", fmt.Errorf("the example is missing: %s", command)
		}
		done += before + "$ " + command + "\n" + printed[i]
		text = rest[len(shown(rest)):]
	}
	return done + text, nil
}

// shown is what a document shows below a command: all lines up to the next one, or to the end of the block.
func shown(rest string) string {
	n := 0
	for line := range strings.Lines(rest) {
		if strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "```") {
			break
		}
		n += len(line)
	}
	return rest[:n]
}

// separator stands before what each command prints.
const separator = "=== command ===\n"

// run runs the commands of an example in one shell, and returns what each has printed on stdout and stderr.
func (s *stage) run(e example) ([]string, error) {
	dir, err := rehearse.MakeDir()
	if err != nil {
		return nil, err
	}
	defer dir.Remove()
	api, err := rehearse.Options{Dir: dir.Path}.Start(e.script)
	if err != nil {
		return nil, err
	}
	defer api.Close()
	env, err := s.environment(dir.Path, api)
	if err != nil {
		return nil, err
	}

	script := "code=0\n"
	for _, command := range e.commands {
		script += "printf '" + strings.TrimSpace(separator) + "\\n'\n(exit $code)\n" + command + "\ncode=$?\n"
	}
	shell, err := supervise.Look("sh", "")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	_, err = new(supervise.Supervisor).Run(supervise.Spec{Path: shell, Args: []string{"sh", "-c", script}, Dir: filepath.Join(dir.Path, "work"), Env: env,
		Stdout: &out, Stderr: &out, Placement: supervise.OwnSession, Timeout: 3 * time.Minute}, nil)
	if err != nil {
		return nil, err
	}
	printed := strings.Split(strings.ReplaceAll(out.String(), "http://github.localhost", "https://github.com"), separator)[1:]
	if len(printed) != len(e.commands) {
		return nil, fmt.Errorf("%s was stopped after three minutes:\n%s", e.commands[len(printed)-1], out.String())
	}
	return printed, nil
}

// environment is all that the commands see. In their directory are the files that they name.
func (s *stage) environment(dir string, api *rehearse.API) ([]string, error) {
	root, err := filepath.Abs(s.root)
	if err != nil {
		return nil, err
	}
	bin, err := filepath.Abs(s.bin)
	if err != nil {
		return nil, err
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return nil, err
	}
	if err := os.Symlink(filepath.Join(root, "examples"), filepath.Join(work, "examples")); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(work, "err.txt"), []byte("HTTP 429, Retry-After: 17\n"), 0o600); err != nil {
		return nil, err
	}
	path := bin
	for _, cli := range profile.All() {
		path += string(os.PathListSeparator) + filepath.Join(root, ".clis", cli.Name+"-"+cli.Tested[0])
	}
	env := []string{"PATH=" + path + string(os.PathListSeparator) + os.Getenv("PATH"), "LANG=C.UTF-8", "TZ=UTC",
		"BELAY_STATE_DIR=" + filepath.Join(dir, "state"), "XDG_CONFIG_HOME=" + filepath.Join(dir, "config")}
	for _, kv := range api.Environ() {
		if !strings.HasSuffix(kv, "=") { // which says that the variable must not be there
			env = append(env, kv)
		}
	}
	return env, nil
}
