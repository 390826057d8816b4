// Command sessions measures what it costs to look at a session of 50 MB and to repair a copy of it. It runs belay itself, as a user does, and adds up the CPU time of the processes.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const session = "11111111-1111-4111-8111-111111111111"

func main() {
	bin := flag.String("bin", "bin", "where belay and belayd are")
	size := flag.Int("size", 50, "how long the record is, in MiB")
	rounds := flag.Int("rounds", 7, "how often each is done")
	flag.Parse()
	dir, err := os.MkdirTemp("", "belay-bench-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	record := filepath.Join(dir, "home", "projects", "-work", session+".jsonl")
	for _, err := range []error{os.MkdirAll(filepath.Dir(record), 0o700), os.WriteFile(record, text(*size<<20), 0o600)} {
		if err != nil {
			log.Fatal(err)
		}
	}
	for name, value := range map[string]string{"BELAY_STATE_DIR": filepath.Join(dir, "state"), "XDG_CONFIG_HOME": filepath.Join(dir, "none"), "CLAUDE_CONFIG_DIR": filepath.Join(dir, "home")} {
		os.Setenv(name, value)
	}
	fmt.Printf("a session of %d MiB; CPU time of belay and belayd together, medians\n\n", *size)
	for _, q := range []struct{ args, bar string }{{"check", ""}, {"repair", "bar 1 s"}, {"show -n 20", ""}} {
		var spent []time.Duration
		for range *rounds {
			cmd := exec.Command(filepath.Join(*bin, "belay"), append(append([]string{"sessions"}, strings.Fields(q.args)...), session)...)
			if out, err := cmd.CombinedOutput(); err != nil && q.args != "check" {
				log.Fatalf("belay sessions %s: %v\n%.2000s", q.args, err, out)
			}
			spent = append(spent, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		}
		slices.Sort(spent)
		fmt.Printf("%-28s %10v   %s\n", "belay sessions "+q.args, spent[len(spent)/2].Round(time.Millisecond), q.bar)
	}
}

// text is a record of claude's: requests with calls and their results, of which the last has none, and a line that broke off.
func text(size int) []byte {
	var b strings.Builder
	parent := "null"
	say := func(n int, role, content string) {
		id := fmt.Sprintf(`"a0000000-0000-4000-8000-%012d"`, n)
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"type":"%s","message":{"id":"msg_%d","model":"claude-sonnet-5","role":"%[2]s","content":[%[4]s],"usage":{"input_tokens":10,"output_tokens":5}},"uuid":%[5]s,"timestamp":"2026-11-19T01:02:35.541Z","sessionId":"%[6]s","version":"2.0.77"}`+"\n",
			parent, role, n, content, id, session)
		parent = id
	}
	say(0, "user", `{"type":"text","text":"do it"}`)
	for n := 1; b.Len() < size; n += 2 {
		say(n, "assistant", fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"go test ./..."}}`, n))
		say(n+1, "user", fmt.Sprintf(`{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}`, n, strings.Repeat(`one of many lines of output\n`, 200+n%7*400)))
	}
	say(size, "assistant", `{"type":"tool_use","id":"toolu_last","name":"Bash","input":{"command":"go vet ./..."}}`)
	b.WriteString(`{"type":"user","message":{"role":"us`)
	return []byte(b.String())
}
