//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// A tree that grows by forks past --max-memory is ended with all that it has started, in a session of its own too, and the largest processes are named. A second
// attempt is made only where retries were asked for.
func TestMaxMemory(t *testing.T) {
	t.Parallel()
	// tail keeps what has no end of a line.
	const grows = `while :; do setsid sh -c '(head -c 5000000 /dev/zero; exec sleep 300) | exec tail' & sleep 0.05; done`
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"Once":    {[]string{"run"}, `^belay: sh used \d+\.\d MB of memory \(limit 60\.0 MB\) and was terminated\. Largest: \d+ \(\w+\) \d+\.\d MB, \d+ \(\w+\) \d+\.\d MB, \d+ \(\w+\) \d+\.\d MB\n$`},
		"Retries": {[]string{"run", "--max-retries", "5", "--base-delay", "10ms"}, `retry 1 of 1\)\nbelay: sh used .* Gave up after 2 attempts; retry later\n$`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			r.start("belay", append(tt.args, "--max-memory", "60M", "--", "sh", "-c", grows)...)
			io.Copy(io.Discard, r.out)
			if code := shellCode(r.cmd.Wait()); code != 75 || !regexp.MustCompile(tt.want).MatchString(r.said()) {
				t.Errorf("exit code %d\n%s", code, r.said())
			}
			r.noneLeft("belay has ended")
		})
	}
}

// A hook that uses too much memory has failed; an MCP server is restarted, but not in a call, and belay mcp status shows what it uses.
func TestMaxMemory_Integrations(t *testing.T) {
	t.Parallel()
	const grows = `(head -c 80m /dev/zero; exec sleep 300) | tail`
	r := newRun(t, 0)
	out, err := r.command("belay", "hook", "--max-memory", "40M", "--fail-closed", "--", "sh", "-c", grows).CombinedOutput()
	if code := shellCode(err); code != 2 || !regexp.MustCompile(`used \d+\.\d MB of memory \(limit 40\.0 MB\) and was terminated\. Largest: \d+ \(tail\) `).Match(out) {
		t.Errorf("exit code %d: %s", code, out)
	}
	const server = `while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in *'"grow"'*) ` + grows + ` & sleep 2;; esac
  [ -z "$id" ] || echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"pid":'$$'}}'
done`
	stdin, feed, err := os.Pipe()
	must.OK(t, err)
	defer stdin.Close()
	r.stdin = stdin
	r.start("belay", "mcp", "--max-memory", "40M", "--name", "grows", "--", "sh", "-c", server)
	ask := func(id int, method string) string {
		fmt.Fprintf(feed, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":%q}\n", id, method)
		line, err := r.out.ReadString('\n')
		must.OK(t, err)
		_, pid, _ := strings.Cut(line, "pid")
		return pid
	}
	first := ask(1, "x")
	if grown := ask(2, "grow"); grown != first {
		t.Errorf("another server has answered the call: %s, %s", first, grown)
	}
	status := ""
	eventually(t, "it was restarted", func() bool {
		out, err := r.command("belay", "mcp", "status", "--json").Output()
		must.OK(t, err)
		status = string(out)
		return strings.Contains(status, `"restarts":1`)
	})
	if !regexp.MustCompile(`"last_failure":"the server used \d+\.\d MB of memory \(limit 40\.0 MB\) and was terminated".*"peak_memory_bytes":\d{8,}`).MatchString(status) {
		t.Error(status)
	}
	if again := ask(3, "x"); again == first {
		t.Error("the server is the same")
	}
	feed.Close()
	io.Copy(io.Discard, r.out)
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, r.said())
	}
	r.noneLeft("belay has ended")
}

// A command that fills its disk is ended while there is room for what Belay itself writes: log, result and record are whole.
func TestMinFreeDisk(t *testing.T) {
	t.Parallel()
	command := unshared(t, []string{"unshare", "--mount"})
	r := newRun(t, 0)
	const script = `
mkdir disk && mount -t tmpfs -o size=200m none disk && cd disk && export BELAY_STATE_DIR=$PWD/state || exit 99
head -c 100m /dev/zero > before
belay run --max-retries 3 --base-delay 10ms --min-free-disk 50M --result-file result.json -- sh -c 'i=0; while :; do i=$((i+1)); head -c 2m /dev/zero > $i; sleep 0.1; done' 2> said
echo "code $?"
echo "free $(stat -f -c %a . | tr -d '\n') $(stat -f -c %S .)"
belay run --min-free-disk 50M -- touch started; echo "code $? $(ls started 2>&1)"
echo 'one' | timeout 60 belay batch --min-free-disk 50M --max-wait 0 -o results.jsonl - -- touch > said2 2>&1; echo "batch $?"
cat said result.json state/log.jsonl said2; ls state/runs | sed 's/^/left /'`
	out, err := r.command(command[0], append(command[1:], "sh", "-c", script)...).CombinedOutput()
	text := string(out)
	var blocks, size int64
	for line := range strings.Lines(text) {
		fmt.Sscanf(line, "free %d %d", &blocks, &size)
	}
	if free := blocks * size; err != nil || free < 5<<20 || free > 50<<20 {
		t.Errorf("%d bytes are free, %v", free, err)
	}
	for _, want := range []string{"code 75\nfree ", "sh was terminated: only ", "are free on the disk of " + filepath.Join(r.dir, "disk") + " (limit 50.0 MB)",
		"sh was not started: only ", "code 75 ls: cannot access", "batch 75\n", `"error_type":"resources"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	lines := 0
	for scan := bufio.NewScanner(bytes.NewReader(out)); scan.Scan(); {
		if line := scan.Bytes(); len(line) > 0 && line[0] == '{' {
			if lines++; !json.Valid(line) {
				t.Errorf("not whole: %s", line)
			}
		}
	}
	if lines < 3 || strings.Contains(text, "\nleft ") {
		t.Errorf("%d lines of JSON in:\n%s", lines, text)
	}
	entries, err := os.ReadDir(filepath.Join(r.dir, "disk"))
	must.OK(t, err)
	if len(entries) > 0 {
		t.Errorf("the disk is still there: %v", entries)
	}
}
