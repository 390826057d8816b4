package proctable

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	memory := int64(100 * os.Getpagesize())
	rest := "S 11 22 33 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 1 0 987654 4096 100 18446744073709551615 1 1 0"
	for name, tt := range map[string]struct {
		stat string
		want Proc
		ok   bool
	}{
		"Plain":       {"7 (cat) " + rest, Proc{PID: 7, PPID: 11, PGID: 22, SID: 33, Start: 987654, Memory: memory, Name: "cat"}, true},
		"Parentheses": {"7 (a) b (c)) " + rest, Proc{PID: 7, PPID: 11, PGID: 22, SID: 33, Start: 987654, Memory: memory, Name: "a) b (c)"}, true},
		"Newline":     {"7 (a\nb) " + rest, Proc{PID: 7, PPID: 11, PGID: 22, SID: 33, Start: 987654, Memory: memory, Name: "a\nb"}, true},
		"NoName":      {"7 () " + rest, Proc{PID: 7, PPID: 11, PGID: 22, SID: 33, Start: 987654, Memory: memory}, true},
		"Zombie":      {"7 (z) Z" + rest[1:], Proc{PID: 7, PPID: 11, PGID: 22, SID: 33, Start: 987654, Memory: memory, Name: "z", zombie: true}, true},
		"Dead":        {"7 (z) X" + rest[1:], Proc{PID: 7, PPID: 11, PGID: 22, SID: 33, Start: 987654, Memory: memory, Name: "z", zombie: true}, true},
		"Kernel":      {"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0", Proc{PID: 2, Start: 5, Name: "kthreadd", kernel: true, childEnded: true}, true},
		"ChildEnded":  {"7 (cat) " + strings.Replace(rest, " 100 0 0 0 ", " 100 90 0 0 ", 1), Proc{PID: 7, PPID: 11, PGID: 22, SID: 33, Start: 987654, Memory: memory, Name: "cat", childEnded: true}, true},
		"Uncounted":   {"7 (cat) " + strings.Replace(rest, " 100 0 0 0 ", " 0 0 0 0 ", 1), Proc{PID: 7, PPID: 11, PGID: 22, SID: 33, Start: 987654, Memory: memory, Name: "cat", childEnded: true}, true},
		"Empty":       {"", Proc{}, false},
		"Short":       {"7 (cat) S 11 22", Proc{}, false},
		"NoPid":       {"(cat) " + rest, Proc{}, false},
		"NegativePid": {"-7 (cat) " + rest, Proc{}, false},
		"Words":       {"7 (cat) " + strings.ReplaceAll(rest, "22", "x"), Proc{}, false},
		"Backwards":   {") 7 (", Proc{}, false},
	} {
		got, ok := parseStat([]byte(tt.stat))
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s: %+v, %t", name, got, ok)
		}
	}
}

// We are in the table ourselves, and know a few things of us.
func TestProcess_Self(t *testing.T) {
	t.Parallel()
	me, err := Find(os.Getpid())
	if err != nil || me.PID != os.Getpid() || me.PPID != os.Getppid() || me.zombie || me.kernel || me.Start == 0 || me.Start > StartNow() {
		t.Errorf("%+v, %v", me, err)
	}
	if _, err := Find(1 << 30); err != os.ErrProcessDone {
		t.Errorf("%v", err)
	}
	if err := (Proc{PID: os.Getpid(), Start: me.Start + 1}).Signal(9); err == nil {
		t.Error("another process than that was signalled")
	}
	if !isProcess(os.Getpid()) || isProcess(1<<30) || lastPID() <= 0 {
		t.Errorf("leads %t, last pid %d", isProcess(os.Getpid()), lastPID())
	}
}

// A Ctrl-Z for a process that is stopped already waits, and is seen.
func TestPending(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/bin/sleep", "300")
	must.OK(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	cmd.Process.Signal(syscall.SIGSTOP)
	if Pending(cmd.Process.Pid, syscall.SIGTSTP) {
		t.Error("it was not sent")
	}
	cmd.Process.Signal(syscall.SIGTSTP)
	if !Pending(cmd.Process.Pid, syscall.SIGTSTP) || Pending(cmd.Process.Pid, syscall.SIGINT) {
		t.Error("it is not seen, or another one is")
	}
	if Pending(1<<30, syscall.SIGTSTP) {
		t.Error("there is no such process")
	}
}

func TestMarkers(t *testing.T) {
	t.Parallel()
	for environ, want := range map[string]string{
		"":                                     "[]",
		"A=1\x00":                              "[]",
		"BELAY_RUN_ID=a\x00":                   "[a]",
		"A=1\x00BELAY_RUN_ID=a,b\x00B=2":       "[a b]",
		"XBELAY_RUN_ID=a\x00":                  "[]",
		"BELAY_RUN_IDS=a\x00":                  "[]",
		"BELAY_RUN_ID=a\x00BELAY_RUN_ID=b\x00": "[a]",
	} {
		if got := fmt.Sprint(markers([]byte(environ))); got != want {
			t.Errorf("%q: %s, want %s", environ, got, want)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	for _, pid := range []string{"self", "1", "2"} {
		if data, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil {
			f.Add(data)
		}
	}
	f.Add([]byte("7 (a) b (c)) S 1 2 3 0 -1 0 0 0 0 0 0 0 0 0 0 0 0 0 9"))
	f.Add([]byte("7 () R 1 2 3 0 -1 0 0 0 0 0 0 0 0 0 0 0 0 0 99999999999999999999"))
	f.Add([]byte(")("))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, ok := parseStat(data)
		if !ok {
			if p != (Proc{}) {
				t.Errorf("refused, but %+v", p)
			}
			return
		}
		// What is taken was there: nothing is made up.
		if p.PID <= 0 || !bytes.Contains(data, fmt.Appendf(nil, "(%s)", p.Name)) {
			t.Errorf("%+v from %q", p, data)
		}
	})
}
