package codex

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/lazy"
	"github.com/belay-run/belay/internal/safefile"
)

const (
	// headLimit is how long the header waits for the record, which has it a moment after the turn began; recordLimit is the
	// same for what an event leaves out. Codex works on meanwhile.
	headLimit   = 3 * time.Second
	recordLimit = 500 * time.Millisecond
	callLimit   = 150 * time.Millisecond
	pollRecord  = 5 * time.Millisecond
	// maxProgressLine is the longest line of the record that is read for it.
	maxProgressLine = 4 << 20
	// maxCalls is how many calls of tools are kept that no event has told of yet.
	maxCalls = 256
)

// progressRecord is what codex's record of a thread has that its events leave out, as far as it was read.
type progressRecord struct {
	home      string
	thread    string
	from      int64 // where the attempt's part begins
	reviews   bool
	ephemeral bool // there is no record

	over    <-chan struct{} // is closed when the record is whole
	misses  uint            // how often in a row something was waited for in vain
	path    string
	at      int64
	version string
	// provider, roots, context and applied are the thread's settings. Of the latter two not every version has both.
	provider         string
	roots            []string
	context, applied *threadSettings
	cwd              string
	calls            []toolCall
	patches          []map[string]fileChange
	plan             *planUpdate
	total            *tokens
}

// threadSettings are those of a turn_context, or of a thread_settings_applied.
type threadSettings struct {
	Cwd      string          `json:"cwd"`
	Model    string          `json:"model"`
	Provider string          `json:"model_provider_id"`
	Approval json.RawMessage `json:"approval_policy"`
	Sandbox  *sandboxPolicy  `json:"sandbox_policy"`
	Profile  *permissions    `json:"permission_profile"`
	Effort   string          `json:"effort"`
	Roots    []string        `json:"workspace_roots"`

	AppliedEffort  string   `json:"reasoning_effort"`
	AppliedSummary string   `json:"reasoning_summary"`
	AppliedRoots   []string `json:"runtime_workspace_roots"`
}

// toolCall is a call that the model has made.
type toolCall struct{ name, text string }

// planUpdate is the argument of update_plan.
type planUpdate struct {
	Explanation *string    `json:"explanation"`
	Plan        []planStep `json:"plan"`
}

type planStep struct {
	Step   string `json:"step"`
	Status string `json:"status"`
}

// fileChange is what a patch does to a file.
type fileChange struct {
	Type     string  `json:"type"`
	Content  string  `json:"content"`
	Unified  string  `json:"unified_diff"`
	MovePath *string `json:"move_path"`
}

// await reads on until the record has what is asked for, and no longer than that. If that was in vain, the next time is shorter.
func (r *progressRecord) await(limit time.Duration, has func() bool) {
	for end := time.Now().Add(limit >> r.misses); ; {
		r.read()
		if has() {
			r.misses = 0
			return
		}
		if r.ephemeral || r.home == "" || !time.Now().Before(end) {
			break
		}
		select {
		case <-r.over:
			r.read() // it is whole now
			has()
			return
		case <-time.After(pollRecord):
		}
	}
	r.misses = min(r.misses+1, 20)
}

// patchOf is the first patch that changes a file; -1 if there is none.
func (r *progressRecord) patchOf(path string) int {
	return slices.IndexFunc(r.patches, func(p map[string]fileChange) bool { _, ok := p[path]; return ok })
}

func (r *progressRecord) hasSettings() bool {
	return r.context != nil || r.applied != nil && r.reviews
}

// read reads on to the last line that is whole.
func (r *progressRecord) read() {
	if r.path == "" {
		if r.home == "" || r.ephemeral || !isUUID(r.thread) {
			return
		}
		if r.path = findRollout(r.home, r.thread); r.path == "" {
			return
		}
		r.at = -1
	}
	if info, err := os.Stat(r.path); err != nil || info.Size() == r.at {
		return
	}
	f, err := safefile.OpenRegular(r.path)
	if err != nil {
		return
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, maxRecord)
	if r.at < 0 {
		first, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return // it is still to come
		}
		r.version, r.provider = field(first, "cli_version"), field(first, "model_provider")
		r.roots = roots(first)
		r.at = r.from
	}
	if _, err := f.Seek(r.at, io.SeekStart); err != nil {
		return
	}
	lines.Reset(f)
	for {
		line, size, err := readRecordLine(lines)
		if err != nil {
			return
		}
		r.at += size
		r.take(line)
	}
}

// readRecordLine reads a line, which is nil if it is too long. An error says that it is not whole.
func readRecordLine(lines *bufio.Reader) (line []byte, size int64, err error) {
	for {
		piece, err := lines.ReadSlice('\n')
		size += int64(len(piece))
		if size <= maxProgressLine {
			line = append(line, piece...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, size, err
		}
	}
}

// roots are the directories of the workspace that the record's first line names, which may be cut off.
func roots(first []byte) (list []string) {
	_, after, ok := bytes.Cut(first, []byte(`"runtime_workspace_roots":`))
	if !ok {
		return nil
	}
	_ = json.NewDecoder(bytes.NewReader(after)).Decode(&list)
	return list
}

// worthReading are what a line has in it that says something.
var worthReading = [][]byte{[]byte(`"turn_context"`), []byte(`"thread_settings_applied"`), []byte(`"function_call"`), []byte(`"custom_tool_call"`),
	[]byte(`"local_shell_call"`), []byte(`"FileChange"`), []byte(`"patch_apply_end"`), []byte(`"token_count"`)}

func (r *progressRecord) take(line []byte) {
	worth := false
	for _, mark := range worthReading {
		worth = worth || bytes.Contains(line[:min(len(line), 1024)], mark)
	}
	if !worth {
		return
	}
	var rec struct {
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
	}
	var payload struct {
		Type      string          `json:"type"`
		Applied   *threadSettings `json:"thread_settings"`
		Name      string          `json:"name"`
		Arguments string          `json:"arguments"`
		Input     string          `json:"input"`
		Item      struct {
			Type    string                `json:"type"`
			Status  string                `json:"status"`
			Changes map[string]fileChange `json:"changes"`
		} `json:"item"`
		Changes map[string]fileChange `json:"changes"`
		Success bool                  `json:"success"`
		Info    *struct {
			Total tokens `json:"total_token_usage"`
		} `json:"info"`
	}
	if json.Unmarshal(line, &rec) != nil {
		return
	}
	_ = json.Unmarshal(rec.Payload, &payload) // a field that has become something else leaves the others readable
	switch {
	case rec.Type == "turn_context":
		r.context = &threadSettings{}
		_ = json.Unmarshal(rec.Payload, r.context)
		r.cwd = r.context.Cwd
	case payload.Type == "thread_settings_applied" && payload.Applied != nil:
		r.applied = payload.Applied
		r.cwd = r.applied.Cwd
	case rec.Type == "response_item" && (payload.Type == "function_call" || payload.Type == "custom_tool_call"):
		r.called(toolCall{payload.Name, payload.Arguments + payload.Input})
	case payload.Type == "item_completed" && payload.Item.Type == "FileChange" && payload.Item.Status == "completed":
		r.patches = append(r.patches, payload.Item.Changes)
	case payload.Type == "patch_apply_end" && payload.Success:
		r.patches = append(r.patches, payload.Changes)
	case payload.Type == "token_count" && payload.Info != nil:
		r.total = &payload.Info.Total
	}
}

func (r *progressRecord) called(c toolCall) {
	if c.name == "update_plan" {
		var plan planUpdate
		if json.Unmarshal([]byte(c.text), &plan) == nil {
			r.plan = &plan
		}
		return
	}
	if len(r.calls) == maxCalls {
		r.calls = r.calls[1:]
	}
	r.calls = append(r.calls, c)
}

// newestPlan is the plan that was made since the last time it was asked for.
func (r *progressRecord) newestPlan() (planUpdate, bool) {
	r.await(callLimit, func() bool { return r.plan != nil })
	if r.plan == nil {
		return planUpdate{}, false
	}
	plan := *r.plan
	r.plan = nil
	return plan, true
}

// directory is where a command runs: the call that asks for it may say where.
func (r *progressRecord) directory(command string) string {
	wanted := bare(typed(command))
	at := -1
	r.await(callLimit, func() bool {
		for i, c := range r.calls {
			if strings.Contains(bare(c.command()), wanted) {
				at = i
				return true
			}
		}
		return false
	})
	if at < 0 {
		return r.cwd
	}
	dir := r.calls[at].workdir()
	if r.calls[at].json() { // a script may start several
		r.calls = append(r.calls[:at:at], r.calls[at+1:]...)
	}
	switch {
	case dir == "":
		return r.cwd
	case filepath.IsAbs(dir):
		return filepath.Clean(dir)
	}
	return filepath.Join(r.cwd, dir)
}

// bare is a command without what a shell's quoting adds to it.
func bare(command string) string {
	return strings.NewReplacer(`'`, "", `"`, "", `\`, "").Replace(command)
}

// json reports whether the call has arguments; else it is a script.
func (c *toolCall) json() bool { return strings.HasPrefix(c.text, "{") }

// command is what the call asks a shell for, in whatever form its tool takes that.
func (c *toolCall) command() string {
	var args struct {
		Cmd     string          `json:"cmd"`
		Command json.RawMessage `json:"command"`
	}
	if !c.json() || json.Unmarshal([]byte(c.text), &args) != nil {
		return c.text
	}
	if args.Cmd != "" {
		return args.Cmd
	}
	var text string
	var words []string
	if json.Unmarshal(args.Command, &text) == nil {
		return text
	}
	_ = json.Unmarshal(args.Command, &words)
	if len(words) > 2 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
		words = words[2:]
	}
	return strings.Join(words, " ")
}

// scriptWorkdir finds the directory that a script gives to a command.
var scriptWorkdir = lazy.Regexp("\\bworkdir[\"']?\\s*:\\s*[\"'`]([^\"'`$]+)[\"'`]")

// workdir is the directory that the call names; empty if it names none, or several.
func (c *toolCall) workdir() (dir string) {
	if c.json() {
		var args struct {
			Workdir string `json:"workdir"`
		}
		_ = json.Unmarshal([]byte(c.text), &args)
		return args.Workdir
	}
	for _, found := range scriptWorkdir.Get().FindAllStringSubmatch(c.text, -1) {
		if dir != "" && dir != found[1] {
			return ""
		}
		dir = found[1]
	}
	return dir
}
