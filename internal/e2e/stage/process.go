//go:build linux

package stage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Mark is in the environment of everything that a test starts, so that what it leaves behind is found, whatever its parent
// is.
type Mark string

// NewMark is one for this test.
func NewMark(t *testing.T) Mark {
	return Mark(fmt.Sprintf("E2E_ID=%s-%d-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid(), time.Now().UnixNano()))
}

// Proc is a living process.
type Proc struct {
	PID  int
	Args string
}

func (p Proc) String() string { return fmt.Sprintf("%d (%.200s)", p.PID, p.Args) }

// Kill ends it at once.
func (p Proc) Kill() { syscall.Kill(p.PID, syscall.SIGKILL) }

// Left are the living processes that have the mark.
func (m Mark) Left() (found []Proc) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(dir + "/environ")
		if err != nil || !strings.Contains(string(env), string(m)) || !slices.Contains(strings.Split(string(env), "\x00"), string(m)) {
			continue
		}
		status, err := os.ReadFile(dir + "/status")
		if err != nil || strings.Contains(string(status), "State:\tZ") || strings.Contains(string(status), "State:\tX") {
			continue
		}
		args, _ := os.ReadFile(dir + "/cmdline")
		pid, _ := strconv.Atoi(filepath.Base(dir))
		found = append(found, Proc{pid, strings.TrimSpace(strings.ReplaceAll(string(args), "\x00", " "))})
	}
	return found
}

// NobodyLeft checks that none of them lives, once they have had the time to go, and ends those that do.
func (m Mark) NobodyLeft(t *testing.T, grace time.Duration) {
	t.Helper()
	if Within(grace, func() bool { return len(m.Left()) == 0 }) {
		return
	}
	left := m.Left()
	t.Errorf("left behind: %v", left)
	for _, p := range left {
		p.Kill()
	}
}

// Within polls until ok is true, and reports whether it became so in time.
func Within(d time.Duration, ok func() bool) bool {
	for end := time.Now().Add(d); ; time.Sleep(20 * time.Millisecond) {
		if ok() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// Buffer is a buffer for several writers, which can be read meanwhile.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
