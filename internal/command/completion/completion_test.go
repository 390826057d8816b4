package completion_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/command/commandtest"
)

// What a shell offers.
func TestCompletion(t *testing.T) {
	commandtest.Place(t)
	for line, want := range map[string][]string{
		"log --class|":          {"failed\n", "rate_limit\n"},
		"stats --by|":           {"day\nprofile\nmodel\nclass\nname\nproject\nmachine\n:4"},
		"events --category|":    {"integration\nhook\nmcp\n:4"},
		"sessions --status|":    {"running\n", "abandoned\n"},
		"audit --action|":       {"gate_reset\n"},
		"log --since|":          {"24h\n", "yesterday\n"},
		"log --profile|":        {"claude\n", "codex\n", "gh\n"},
		"run --profile|":        {"claude\n"},
		"run --preset|":         {":4"},
		"run --output-format|":  {"text\njson\n:4"},
		"run --cwd|":            {":16"}, // directories
		"run --prompt-file|":    {":0"},  // files
		"rehearse --dir|":       {":16"},
		"run --scope|":          {":4"},
		"explain --signal|":     {"KILL\n"},
		"mcp install --client|": {"claude\ncodex\ngemini\nopencode\ncursor\nvscode\n:4"},
		"gates|":                {"hold\t", "reset\t"},
		"run --|":               {":0"},
		"log|":                  {":4"},
		"cancel|":               {":4"},
	} {
		args := append([]string{"__complete"}, strings.Fields(strings.TrimSuffix(line, "|"))...)
		commandtest.Belay(t, append(args, "")...).Ends(0).Prints(want...)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		commandtest.Belay(t, "completion", shell).Ends(0).Says().Prints("__complete")
	}
}
