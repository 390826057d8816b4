package batch

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/batch/tasks"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/verdict"
)

// Ended is a task that has ended, for those who look at it from elsewhere.
type Ended struct {
	Task  string  `json:"task"`
	Line  int     `json:"line,omitempty"` // if its file gives it no id
	State string  `json:"state"`
	Cost  float64 `json:"cost_usd"`
	At    string  `json:"ended"`
	Run   string  `json:"run,omitempty"` // its id
	Class string  `json:"error_type,omitempty"`
	Error string  `json:"error,omitempty"` // or why it was skipped
	Exit  int     `json:"exit_code"`
	// Took and Attempts are those of its run.
	Took     int64 `json:"duration_ms"`
	Attempts int   `json:"attempts"`
	// Result is the beginning of what the run has answered, and Cut says that there is more of it.
	Result  string `json:"result,omitempty"`
	Cut     bool   `json:"cut,omitempty"`
	Output  string `json:"output_file,omitempty"`
	Machine string `json:"machine,omitempty"`
}

const (
	// maxShown bounds what is shown of a result, in characters.
	maxShown = 4 << 10
	// maxDecoded bounds a line of results that is decoded to be shown.
	maxDecoded = 4 << 20
)

// Listing says which of the tasks that have ended are wanted.
type Listing struct {
	State       string // empty means all: those that have failed, that were skipped, that are done
	Text        string // which the id, the line or the error has in it
	From, Limit int
}

// ReadTasks returns tasks of these results that have ended, in the order of the tasks, and how many there are of the listing.
func ReadTasks(path string, l Listing) (list []Ended, total int, err error) {
	e, err := readEnded(path)
	if err != nil || len(e.last) == 0 {
		return nil, 0, err
	}
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	places := e.inOrder(func(p place) bool { return l.State == "" || p.state.String() == l.State })
	rank := func(p place) int { return slices.Index([]State{Failed, Skipped, Done}, p.state) }
	slices.SortStableFunc(places, func(a, b place) int { return rank(a) - rank(b) })
	for _, p := range places {
		total++
		if l.Text == "" && (total <= l.From || total > l.From+l.Limit) {
			continue
		}
		one := readTask(f, p)
		if !one.has(strings.ToLower(l.Text)) {
			total--
		} else if total > l.From && total <= l.From+l.Limit {
			list = append(list, one)
		}
	}
	return list, total, nil
}

// readTask reads what is shown of a result.
func readTask(f io.ReaderAt, p place) Ended {
	var r struct {
		Ended
		ID      string          `json:"id"`
		Profile string          `json:"profile"`
		Reason  string          `json:"reason"`
		Stderr  string          `json:"stderr"`
		Result  json.RawMessage `json:"result"`
	}
	line := io.NewSectionReader(f, p.offset, min(p.size, maxDecoded))
	if json.NewDecoder(line).Decode(&r) != nil { // too long, or changed meanwhile
		begin := make([]byte, 4<<10)
		n, _ := f.ReadAt(begin, p.offset)
		start, _ := parseStart(append(begin[:n:n], '}'))
		return Ended{Task: start.Task, State: p.state.String(), Cost: start.Cost, Class: string(verdict.Unknown), Cut: true}
	}
	one := r.Ended
	one.Run, one.Line, one.State = r.ID, tasks.OwnLine(one.Task, p.hash, one.Line), p.state.String()
	if one.Error = cmp.Or(one.Error, r.Reason); r.Profile == "generic" {
		one.Error = message.BatchWhy(one.Error, r.Stderr)
	}
	text := ""
	if json.Unmarshal(r.Result, &text) != nil { // what is no text is shown as JSON
		text = string(r.Result)
	}
	one.Result, one.Cut = beginning(text)
	return one
}

// beginning is what is shown of a text, in whole characters, and reports whether there is more of it.
func beginning(text string) (string, bool) {
	n := 0
	for i := range text {
		if n++; n > maxShown {
			return text[:i], true
		}
	}
	return text, false
}

// has reports whether a text, in lower case, is in what a task is looked for by.
func (e *Ended) has(text string) bool {
	return text == "" || slices.ContainsFunc([]string{e.Task, message.BatchTask(e.Task, e.Line), e.Run, e.Class, e.Error}, func(of string) bool {
		return strings.Contains(strings.ToLower(of), text)
	})
}
