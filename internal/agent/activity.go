package agent

import (
	"encoding/json"
	"strings"
)

// Activity is what an agent does at one moment.
type Activity struct {
	Doing Doing
	// Tool is the tool that it uses, and Argument what it has given to it, in short: a command, a path, an address. The argument
	// may hold secrets. Both are empty if it uses none, or does not tell. If it writes, Argument is what it has written.
	Tool, Argument string
}

// Doing is a kind of activity.
type Doing int

const (
	Thinking  Doing = iota // the model has been asked and has not begun to answer, or thinks
	Writing                // the model writes its answer
	UsingTool              // a tool runs, or is being called
)

// maxArgument bounds what is kept of a tool's argument: more than any terminal shows in one line.
const maxArgument = 2048

// ToolArgument is what tells most about a call of a tool, given its input as JSON; empty if nothing is known to.
func ToolArgument(input []byte) string {
	if len(input) == 0 || input[0] != '{' {
		return ""
	}
	var in struct {
		Command      string `json:"command"`
		FilePath     string `json:"file_path"`
		CamelPath    string `json:"filePath"`
		NotebookPath string `json:"notebook_path"`
		Path         string `json:"path"`
		Pattern      string `json:"pattern"`
		URL          string `json:"url"`
		Query        string `json:"query"`
		Skill        string `json:"skill"`
		Description  string `json:"description"`
	}
	_ = json.Unmarshal(input, &in) // a field of another type leaves the others readable
	for _, text := range []string{in.Command, in.FilePath, in.CamelPath, in.NotebookPath, in.Pattern, in.Path, in.URL, in.Query, in.Skill, in.Description} {
		if text != "" {
			return ShortArgument(text)
		}
	}
	return ""
}

// ShortArgument bounds an argument. It is cut between two words, so that no part of a secret is left that is not recognized as one.
func ShortArgument(text string) string {
	if len(text) <= maxArgument {
		return text
	}
	return text[:max(0, strings.LastIndexAny(text[:maxArgument], " \n\t"))]
}
