package term_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/test/must"
)

// screen returns a screen that is not a terminal, and what was written to it.
func screen(t *testing.T) (*term.Screen, func() string) {
	t.Helper()
	for _, name := range []string{"NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR"} {
		t.Setenv(name, "")
	}
	path := filepath.Join(t.TempDir(), "out")
	f, err := os.Create(path)
	must.OK(t, err)
	t.Cleanup(func() { f.Close() })
	return term.New(f), func() string {
		data, err := os.ReadFile(path)
		must.OK(t, err)
		return string(data)
	}
}

func TestScreen_Line(t *testing.T) {
	s, out := screen(t)
	s.Line("%s failed", "x")
	if got := out(); got != "belay: x failed\n" {
		t.Errorf("%q", got)
	}
}

// Without a terminal a plain line is written at least once a minute, because CI systems end a silent job.
func TestScreen_CountdownWithoutATerminal(t *testing.T) {
	s, out := screen(t)
	synctest.Test(t, func(t *testing.T) {
		stop := s.Countdown("retry 1/3", time.Now().Add(5*time.Minute))
		time.Sleep(3*time.Minute + time.Second)
		synctest.Wait()
		stop()
	})
	lines := strings.Split(strings.TrimSpace(out()), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], "still waiting: 4m left") || strings.ContainsAny(out(), "\r\x1b") {
		t.Errorf("%q", lines)
	}
}

func TestScreen_Pulse(t *testing.T) {
	s, out := screen(t)
	synctest.Test(t, func(t *testing.T) {
		stop := s.Pulse("make still runs")
		time.Sleep(2*time.Minute + time.Second)
		synctest.Wait()
		stop()
		time.Sleep(time.Hour)
	})
	if got := out(); got != "belay: make still runs (1m)\nbelay: make still runs (2m)\n" {
		t.Errorf("%q", got)
	}
}

func TestScreen_ColorFollowsTheConventions(t *testing.T) {
	tests := map[string]struct {
		env   map[string]string
		color bool
	}{
		"not a terminal":            {nil, false},
		"forced":                    {map[string]string{"FORCE_COLOR": "1"}, true},
		"forced the other way":      {map[string]string{"CLICOLOR_FORCE": "1"}, true},
		"forced and forbidden":      {map[string]string{"FORCE_COLOR": "1", "NO_COLOR": "1"}, false},
		"forced with a zero is not": {map[string]string{"FORCE_COLOR": "0"}, false},
		"nor with false":            {map[string]string{"FORCE_COLOR": "false"}, false},
		"one of them forces":        {map[string]string{"FORCE_COLOR": "0", "CLICOLOR_FORCE": "1"}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _ = screen(t) // clears the environment
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			r, w, err := os.Pipe()
			must.OK(t, err)
			term.New(w).Line("x")
			w.Close()
			got, _ := io.ReadAll(r)
			if strings.Contains(string(got), "\x1b[") != tt.color {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{350 * time.Millisecond: "350ms", 1234 * time.Millisecond: "1.2s",
		250 * time.Second: "4m10s", 3*time.Hour + 5*time.Minute + 20*time.Second: "3h5m", 26 * time.Hour: "26h", 10 * time.Minute: "10m",
		59*time.Second + 600*time.Millisecond: "1m", time.Hour - time.Second/4: "1h", 20 * time.Second: "20s", 30 * time.Minute: "30m", 601 * time.Second: "10m1s"} {
		if got := term.Span(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
