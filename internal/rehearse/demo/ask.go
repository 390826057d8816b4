package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
)

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
	link := filepath.Join(bin, AskName)
	if runtime.GOOS != "windows" {
		return bin, os.Symlink(self, link)
	}
	data, err := os.ReadFile(self) // links are for administrators there
	if err != nil {
		return "", err
	}
	return bin, os.WriteFile(link+".exe", data, 0o700)
}

// AskName is the name under which belayd is a small client of the Messages API: the demo runs it where no agent is
// installed. It prints the answer as an agent would, and does not retry.
const AskName = "ask"

// Ask is that client.
func Ask(ctx context.Context, std stdio.Streams, args []string) int {
	text, err := post(ctx, os.Getenv("ANTHROPIC_BASE_URL"), strings.Join(args, " "))
	if err != nil {
		term.Printf(std.Err, "ask: %v\n", err)
		return 1
	}
	term.Text(std.Out, text+"\n")
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
