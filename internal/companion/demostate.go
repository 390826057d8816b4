package companion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
)

// demoState is a new state directory for the demo beside the user's own, so that its record can be looked at afterwards.
func demoState() (string, error) {
	base, err := state.DefaultDir()
	if err == nil {
		_, err = state.Open(base)
	}
	dir := filepath.Join(base, "demo")
	if err == nil {
		err = removeDemo(dir)
	}
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = safefile.WriteOwn(filepath.Join(dir, demoMark), nil)
	}
	if err != nil {
		return "", message.Error(fmt.Sprintf("cannot record the demo: %v. To use another directory: BELAY_STATE_DIR=/some/where belay demo", err), err)
	}
	return dir, nil
}

// demoMark is a file in the directory of a demo, by which a later one knows that it may be removed.
const demoMark = ".belay-demo"

// removeDemo removes the directory of an earlier demo. A directory of that name which no demo has made is left as it is. Those of earlier
// versions have no mark, but a log, and nothing that a state directory does not have.
func removeDemo(dir string) error {
	names, err := safefile.ReadOwnDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(names) == 0 {
		return nil
	}
	if err == nil && !slices.Contains(names, demoMark) && (!slices.Contains(names, "log.jsonl") || !slices.Contains(names, "gates")) {
		err = message.Error(message.NotMadeByBelay(dir))
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// linkAsk links this executable as ask, and returns the directory for the PATH.
func linkAsk(dir string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return "", err
	}
	link := filepath.Join(bin, askName)
	if runtime.GOOS != "windows" {
		return bin, os.Symlink(self, link)
	}
	data, err := os.ReadFile(self) // links are for administrators there
	if err != nil {
		return "", err
	}
	return bin, os.WriteFile(link+".exe", data, 0o700)
}

// showLog shows the attempts of the demo.
func (d *demo) showLog() error {
	f, err := (&state.State{Dir: d.state}).OpenLog()
	if err != nil {
		return err
	}
	defer f.Close()
	var rows [][]term.Piece
	for dec := json.NewDecoder(f); ; {
		var e struct {
			Timestamp time.Time `json:"timestamp"`
			Command   string    `json:"command"`
			Attempt   int       `json:"attempt"`
			Status    string    `json:"status"`
			ErrorType string    `json:"error_type"`
			WaitTime  float64   `json:"wait_time"`
		}
		if err := dec.Decode(&e); err == io.EOF {
			return term.Sheet{Columns: demoColumns, Rows: rows}.WriteAs(d.from.Out, d.look)
		} else if err != nil {
			return err
		}
		wait, style := "", term.Bad
		switch e.Status {
		case "success":
			style = term.Good
		case "retry":
			style = term.Warning
		}
		if e.WaitTime > 0 {
			wait = fmt.Sprintf("%.1f", e.WaitTime)
		}
		rows = append(rows, term.Cells(e.Timestamp.Local().Format("15:04:05"), e.Command, e.Attempt, term.Styled(style, e.Status), e.ErrorType, wait))
	}
}

// tilde is short for [term.Tilde] in rows of tables.
func tilde(path string) string { return term.Tilde(path) }

// askName is the name under which belayd is a small client of the Messages API: the demo runs it where no agent is
// installed. It prints the answer as an agent would, and does not retry.
const askName = "ask"

// calledAs is the name under which we were started.
func calledAs() string { return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") }

func ask(ctx context.Context, from caller, args []string) int {
	text, err := post(ctx, os.Getenv("ANTHROPIC_BASE_URL"), strings.Join(args, " "))
	if err != nil {
		term.Printf(from.Err, "ask: %v\n", err)
		return 1
	}
	term.Text(from.Out, text+"\n")
	return 0
}

// post sends a prompt and returns the answer.
func post(ctx context.Context, base, prompt string) (string, error) {
	body, err := json.Marshal(map[string]any{"model": "rehearsal", "max_tokens": 100,
		"messages": []map[string]string{{"role": "user", "content": prompt}}})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{Timeout: 30 * time.Second}
	res, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return "", err
	}
	if res.StatusCode != http.StatusOK {
		after := res.Header.Get("Retry-After")
		if after != "" {
			after = ", Retry-After: " + after
		}
		return "", fmt.Errorf("HTTP %s%s", res.Status, after)
	}
	var answer struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := json.Unmarshal(data, &answer); err != nil || len(answer.Content) == 0 {
		return "", message.Error("the answer cannot be understood")
	}
	return answer.Content[0].Text, nil
}
