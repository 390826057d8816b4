//go:build unix

package mcp_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/relay"
)

// A server that ends at every call. The client hears what became of each, and the proxy stays.
func ExampleProxy_Run() {
	shell, err := exec.LookPath("sh")
	if err != nil {
		fmt.Println(err)
		return
	}
	calls := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy"}}` + "\n")
	var answers bytes.Buffer
	mcp.New(mcp.Options{Settings: relay.Settings{Name: "ops"}, Path: shell, Args: []string{"sh", "-c", "read call; exit 3"}, Stdin: calls, Stdout: &answers,
		Stderr: new(bytes.Buffer)}).Run(context.Background())
	fmt.Println(strings.Contains(answers.String(), `"id":1`), strings.Contains(answers.String(), `"isError":true`))
	// Output: true true
}
