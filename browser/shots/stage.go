package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// stage is a home of its own in which rehearsals take place.
type stage struct {
	belay, claude, codex string
	root, dir            string // dir is the project that agents work on
	env                  []string
	story                string // the id of the run whose story is shown
	live                 []*exec.Cmd
}

func newStage(belay, claude, codex string) (s *stage, err error) {
	s = &stage{}
	for i, to := range []*string{&s.belay, &s.claude, &s.codex} {
		if *to, err = filepath.Abs([]string{belay, claude, codex}[i]); err != nil {
			return nil, err
		}
	}
	if s.root, err = os.MkdirTemp("", "belay-shots-*"); err != nil {
		return nil, err
	}
	s.dir = filepath.Join(s.root, "shop")
	config := filepath.Join(s.root, "config", "belay")
	if err := errors.Join(os.MkdirAll(s.dir, 0o700), os.MkdirAll(config, 0o700), os.WriteFile(filepath.Join(config, "config.toml"), []byte("[budget.web]\nlimit = 1\nwindow = \"day\"\ntag = \"team=web\"\n"), 0o600)); err != nil {
		return nil, err
	}
	s.env = []string{"PATH=" + filepath.Dir(s.belay) + ":" + filepath.Dir(s.claude) + ":" + filepath.Dir(s.codex) + ":" + os.Getenv("PATH"), "HOME=" + s.root, "LANG=C.UTF-8", "TZ=UTC",
		"BELAY_STATE_DIR=" + filepath.Join(s.root, "state"), "XDG_CONFIG_HOME=" + filepath.Join(s.root, "config"), "BELAY_FOLD=off"}
	return s, nil
}

// strike ends what runs and removes all.
func (s *stage) strike() {
	for _, cmd := range s.live {
		cmd.Process.Signal(os.Interrupt)
	}
	for _, cmd := range s.live {
		cmd.Wait()
	}
	os.RemoveAll(s.root)
}

// rehearsal is a command against stand-ins.
func (s *stage) rehearsal(script string, flags string, command ...string) *exec.Cmd {
	args := append([]string{"rehearse", "--dir", s.root, "--script", script}, strings.Fields(flags)...)
	cmd := exec.Command(s.belay, append(append(args, "--"), command...)...)
	cmd.Env, cmd.Dir = s.env, s.dir
	return cmd
}

// rehearse waits for one. That its command fails is meant to be.
func (s *stage) rehearse(script, flags string, command ...string) error {
	out, err := s.rehearsal(script, flags, command...).CombinedOutput()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		return fmt.Errorf("%w\n%s", err, out)
	}
	log.Printf("%s %v: %s", script, command, bytes.TrimSpace(out[bytes.LastIndexByte(bytes.TrimSpace(out), '\n')+1:]))
	return nil
}

// begin starts one that runs until the pictures are taken.
func (s *stage) begin(script, flags string, command ...string) error {
	cmd := s.rehearsal(script, flags, command...)
	if err := cmd.Start(); err != nil {
		return err
	}
	s.live = append(s.live, cmd)
	return nil
}

// play makes what there is to see.
func (s *stage) play() error {
	for _, past := range []struct {
		script, flags string
		command       []string
		times         int // how often it is on record
	}{
		{"429(retry-after=2), tool(bash: sleep 1), hang, tool(bash: sleep 2), 200(text=done, in=24000, out=1900)", "--name nightly --tag team=web --stall-timeout 12s", []string{"claude", "-p", "update the dependencies", "--allowedTools", "Bash"}, 14},
		{"200(text=done, in=9000, out=700)", "--name review --tag team=web", []string{"claude", "-p", "review the last commit"}, 90},
		{"overloaded, 200(text=done, in=14000, out=600)", "--name triage --tag team=ops", []string{"claude", "-p", "triage the new issues"}, 40},
		{"tool(bash: sleep 1), 200(text=done, in=18000, out=1200)", "--name tests --tag team=web", []string{"codex", "exec", "--skip-git-repo-check", "fix the tests"}, 60},
		{"401", "--name triage --tag team=ops", []string{"claude", "-p", "triage the new issues"}, 4},
		{"drop-mid x9", "--name tests --tag team=web --max-retries 1 --base-delay 0.1", []string{"codex", "exec", "--skip-git-repo-check", "fix the tests"}, 5},
		{"hang", "--name review --stall-timeout 4s --max-retries 0", []string{"claude", "-p", "review the last commit"}, 7},
		{"429(retry-after=90)x*", "--name nightly --max-wait 1s --tag team=web", []string{"codex", "exec", "--skip-git-repo-check", "update the dependencies"}, 6},
	} {
		if err := s.rehearse(past.script, past.flags, past.command...); err != nil {
			return err
		}
		if err := s.multiply(past.times); err != nil {
			return err
		}
	}
	chapters := ""
	for i := range 24 {
		chapters += fmt.Sprintf(`{"id":"chapter-%d","prompt":"Translate chapter %d of the manual."}`+"\n", i+1, i+1)
	}
	write := func(name, text string, mode os.FileMode) error {
		return os.WriteFile(filepath.Join(s.dir, name), []byte(text), mode)
	}
	if err := errors.Join(write("chapters.jsonl", chapters, 0o600), write("services.txt", "cart\ncheckout\nsearch\nlogin\nmail\nprices\n", 0o600),
		write("check", "#!/bin/sh\ncase $1 in search|mail) echo \"$1: connection refused\" >&2; exit 1;; esac\n", 0o700)); err != nil {
		return err
	}
	for _, now := range []struct {
		script, flags string
		command       []string
		wait          bool
	}{
		{"200", "--name checks", []string{"belay", "batch", "services.txt", "-o", "services.results.jsonl", "--", "./check", "{}"}, true},
		{"200x5, hang x*", "--name manual", []string{"belay", "batch", "-j", "2", "--name", "manual", "chapters.jsonl", "--", "claude", "-p"}, false},
		{"tool(bash: until [ -e stopped ]; do sleep 1; done)", "--name nightly --tag team=web", []string{"claude", "-p", "update the dependencies", "--allowedTools", "Bash"}, false},
		{"429(retry-after=1500)x*", "--name triage --tag team=ops --max-wait 1h", []string{"claude", "-p", "triage the new issues"}, false},
		{"hang", "--name tests --tag team=web", []string{"codex", "exec", "--skip-git-repo-check", "fix the tests"}, false},
	} {
		play := s.begin
		if now.wait {
			play = s.rehearse
		}
		if err := play(now.script, now.flags, now.command...); err != nil {
			return err
		}
	}
	time.Sleep(20 * time.Second) // until all of them do what they are to do
	return nil
}

// multiply puts the invocation that was logged last on record so many times, at times within the last two weeks at which people work.
func (s *stage) multiply(times int) error {
	path := filepath.Join(s.root, "state", "log.jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var last []map[string]any
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var line map[string]any
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return err
		}
		if id, _ := line["invocation"].(string); id == "" {
			continue
		} else if len(last) > 0 && last[0]["invocation"] != id {
			last = nil
		}
		last = append(last, line)
	}
	if len(last) == 0 {
		return errors.New("nothing was logged")
	}
	id, _ := last[0]["invocation"].(string)
	if s.story == "" {
		s.story = id
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	random := rand.New(rand.NewPCG(1, uint64(len(data))))
	for n := range times {
		day := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -1-random.IntN(13))
		shift := time.Until(day.Add(7*time.Hour + time.Duration(random.IntN(11*3600))*time.Second))
		for _, line := range last {
			at, err := time.Parse(time.RFC3339Nano, line["timestamp"].(string))
			if err != nil {
				return err
			}
			copied := map[string]any{}
			for key, value := range line {
				copied[key] = value
			}
			copied["timestamp"] = at.Add(shift).Format("2006-01-02T15:04:05.000Z")
			copied["invocation"] = fmt.Sprintf("%s%04x%s", id[:len(id)-12], n, id[len(id)-8:])
			text, err := json.Marshal(copied)
			if err != nil {
				return err
			}
			if _, err := f.Write(append(text, '\n')); err != nil {
				return err
			}
		}
	}
	return nil
}
