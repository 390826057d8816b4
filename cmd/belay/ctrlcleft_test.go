//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Ctrl-C on a terminal ends a plain command, and what that has left in sessions of its own does not end with it. It is said,
// and --reap ends it: alone in front of the terminal, where only the command gets the signal, and in a pipeline.
func TestCtrlC_NothingIsLeftSilently(t *testing.T) {
	t.Parallel()
	for place, line := range map[string]string{"Alone": "%s sh command.sh", "Pipeline": "%s sh command.sh | cat"} {
		for _, reap := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/Reap=%t", place, reap), func(t *testing.T) {
				t.Parallel()
				s := newShell(t, "")
				belay := "belay-plain run --"
				if reap {
					belay = "belay-plain run --reap --"
				}
				for reaction, trap := range map[string]string{
					"Dies":    "",
					"Handles": "trap 'exit 130' INT",
					"Fails":   "trap 'exit 1' INT",
				} {
					for kind, daemon := range map[string]string{
						"Session": `setsid sh -c ': > up; exec sleep 300' > /dev/null 2>&1 &`,
						"Wiped":   `(setsid env -i sh -c ': > up; exec sleep 300' > /dev/null 2>&1 &)`,
					} {
						os.Remove(s.path("up"))
						s.write("command.sh", trap+"\n"+daemon+"\nwhile [ ! -e up ]; do sleep 0.01; done\necho ready\nwhile :; do sleep 0.1; done\n")
						s.send(fmt.Sprintf(line, belay) + "\r")
						s.expect(`^ready\r\n`)
						s.send(ctrlC)
						shown := s.expect(`\$ $`)
						said := strings.Contains(shown, "sh left processes running: ") && strings.Contains(shown, "use --reap")
						var left []proc
						for _, p := range inside(s.dir) {
							if strings.HasPrefix(p.args, "sleep 300") {
								left = append(left, p)
								unix.Kill(p.pid, unix.SIGKILL)
							}
						}
						if said == reap || reap != (len(left) == 0) {
							t.Errorf("%s, %s: said is %t, left are %v\n%q", reaction, kind, said, left, shown)
						}
					}
				}
			})
		}
	}
}
