//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// check finds out what is wrong with what came of the run. lines are those of the log.
func (f *processRun) check(lines []journal.Entry) {
	if f.signal != 0 {
		f.checkInterrupted(lines)
		return
	}
	r, last := &f.result, &f.want.Attempts[len(f.want.Attempts)-1]
	works := f.want.Class == verdict.OK
	class := ""
	if r.ErrorType != nil {
		class = *r.ErrorType
	}
	if f.code != f.want.Exit || r.ExitCode != f.want.Exit || r.Success != works || !works && class != string(f.want.Class) {
		f.bad("exit code %d, in the result %d with %q; want %d with %s", f.code, r.ExitCode, class, f.want.Exit, f.want.Class)
	}
	n := len(f.want.Attempts)
	if f.starts != n || r.Attempts != n || len(lines) != n {
		f.bad("%d starts, %d attempts in the result, %d lines in the log, want %d", f.starts, r.Attempts, len(lines), n)
		return
	}
	for i, a := range f.want.Attempts {
		line, class := lines[i], a.Class
		if class == verdict.OK {
			class = ""
		}
		if line.Attempt != i+1 || string(line.Status) != a.Status || line.ErrorType != class {
			f.bad("line %d is of attempt %d: %s %s, want %s %s", i+1, line.Attempt, line.Status, line.ErrorType, a.Status, class)
		}
		if final := i == n-1; final != (line.BelayCode != nil) || final && *line.BelayCode != f.want.Exit {
			f.bad("line %d has %v for Belay's exit code, want %d", i+1, line.BelayCode, f.want.Exit)
		}
		if planned := time.Duration(line.Planned() * float64(time.Second)).Round(time.Millisecond); planned != a.Wait {
			f.bad("%v are waited after attempt %d, want %v", planned, i+1, a.Wait)
		}
		var args []string
		data, err := os.ReadFile(filepath.Join(f.dir, fmt.Sprint("start.", i)))
		if err == nil {
			err = json.Unmarshal(data, &args)
		}
		if err != nil || slices.Contains(args, a.Session) != a.Resumes {
			f.bad("start %d is %q, want a resumed session: %v (%v)", i+1, args, a.Resumes, err)
		}
	}
	out := f.stdout.String()
	if works && out != last.Fault.Answer {
		f.bad("stdout is %.200q, want %q", out, last.Fault.Answer)
	}
	for i := range n - 1 {
		if strings.Contains(out, fmt.Sprintf("of start %d\n", i+1)) {
			f.bad("stdout has what attempt %d has printed: %.200q", i+1, out)
		}
	}
}

// checkInterrupted checks a run that was told to end, at any moment of it.
func (f *processRun) checkInterrupted(lines []journal.Entry) {
	told := f.code == 128+int(f.signal)
	if !told && f.code != f.want.Exit {
		f.bad("exit code %d, want %d or %d", f.code, 128+int(f.signal), f.want.Exit)
	}
	if f.id == "" { // before anything had begun
		if !told || f.starts > 0 {
			f.bad("no result after %d starts, with exit code %d", f.starts, f.code)
		}
		return
	}
	// A process that is ended as soon as it was started has not counted itself.
	if f.result.ExitCode != f.code || f.result.Success != (f.code == 0) || f.result.Attempts > f.starts+1 || f.result.Attempts < f.starts {
		f.bad("exit code %d, in the result %d with %d attempts, after %d starts", f.code, f.result.ExitCode, f.result.Attempts, f.starts)
	}
	if len(lines) == 0 || len(lines) > f.result.Attempts+1 || lines[len(lines)-1].BelayCode == nil || *lines[len(lines)-1].BelayCode != f.code {
		f.bad("%d starts are on record as %+v", f.starts, lines)
	}
	if f.result.Success && f.stdout.String() != f.want.Attempts[len(f.want.Attempts)-1].Fault.Answer {
		f.bad("stdout is %.200q", &f.stdout)
	}
}
