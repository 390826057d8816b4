package companion

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/term"
)

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
		return "", refusal(res)
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

func refusal(res *http.Response) error {
	after := res.Header.Get("Retry-After")
	if after != "" {
		after = ", Retry-After: " + after
	}
	return fmt.Errorf("HTTP %s%s", res.Status, after)
}
