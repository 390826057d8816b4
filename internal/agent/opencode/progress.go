package opencode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/agent"
)

// progress tells people what opencode does, in its own words: what `opencode run` prints on stderr where it is not asked for
// events. Agent and model come from the log, the rest from the events. The form is that of 1.18, which has its colours whether
// stderr is a terminal or not.
type progress struct {
	dir    string // where it works
	headed bool   // agent and model are printed
	blank  bool   // the last line is empty
}

// What colours text.
const (
	normal  = "\x1b[0m"
	dim     = "\x1b[90m"
	redBold = "\x1b[91m\x1b[1m"
)

// Tells implements [agent.Teller].
func (f *follower) Tells() bool { return f.progress != nil }

// telling is what a text is told by; nil if there is nothing to tell.
func telling(text string) *agent.Telling {
	if text == "" {
		return nil
	}
	return &agent.Telling{Text: func(<-chan struct{}) string { return text }}
}

// asks is what is printed when a model is asked for the first time.
func (p *progress) asks(agent, model string) string {
	if p == nil || p.headed {
		return ""
	}
	p.headed = true
	var out bytes.Buffer
	p.empty(&out)
	p.line(&out, "> "+agent+" · "+model)
	p.empty(&out)
	return out.String()
}

// event is what an event prints.
func (p *progress) event(e *event) string {
	var out bytes.Buffer
	switch e.Type {
	case "tool_use":
		p.tool(&out, &e.Part)
	case "error":
		p.fail(&out, cmp.Or(e.Error.Data.Message, e.Error.Name))
	}
	return out.String()
}

// tool tells of a tool that has ended.
func (p *progress) tool(out *bytes.Buffer, part *part) {
	t := p.shown(part)
	switch {
	case part.State.Status == "error":
		t.icon, t.title = "✗", t.title+" failed"
		p.inline(out, t)
		p.fail(out, part.State.Error)
	case t.block:
		p.empty(out)
		p.inline(out, t)
		if strings.TrimSpace(t.body) != "" {
			p.line(out, t.body)
			p.empty(out)
		}
	default:
		p.inline(out, t)
	}
}

func (p *progress) inline(out *bytes.Buffer, t shownTool) {
	text := normal + t.icon + " " + normal + t.title
	if t.about != "" {
		text += dim + " " + t.about + normal
	}
	p.line(out, text)
}

func (p *progress) fail(out *bytes.Buffer, message string) {
	p.line(out, redBold+"Error: "+normal+strings.TrimPrefix(message, "Error: "))
}

func (p *progress) line(out *bytes.Buffer, text string) {
	p.blank = false
	out.WriteString(text + "\n")
}

func (p *progress) empty(out *bytes.Buffer) {
	if !p.blank {
		p.line(out, normal)
		p.blank = true
	}
}

// shownTool is how a tool is shown: in a line, or as a block with what it has done.
type shownTool struct {
	icon, title, about string
	block              bool
	body               string
}

// toolInput is what tools are given, as far as it is shown.
type toolInput struct {
	Command     string `json:"command"`
	FilePath    string `json:"filePath"`
	Path        string `json:"path"`
	Pattern     string `json:"pattern"`
	URL         string `json:"url"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Subagent    string `json:"subagent_type"`
	Todos       []struct {
		Status  string `json:"status"`
		Content string `json:"content"`
	} `json:"todos"`
}

func (p *progress) shown(part *part) shownTool {
	s := &part.State
	var in toolInput
	json.Unmarshal(s.Input, &in) // a field of another type leaves the others readable
	switch part.Tool {
	case "bash":
		return shownTool{icon: "$", title: in.Command, block: true, body: strings.TrimSpace(s.Output)}
	case "read":
		return shownTool{icon: "→", title: "Read " + p.path(in.FilePath), about: others(s.Input, "filePath")}
	case "write":
		return shownTool{icon: "←", title: "Write " + p.path(in.FilePath), block: true, body: s.Output}
	case "edit":
		return shownTool{icon: "←", title: "Edit " + p.path(in.FilePath), block: true, body: s.Metadata.Diff}
	case "glob":
		return shownTool{icon: "✱", title: fmt.Sprintf(`Glob "%s"`, in.Pattern), about: p.matches(in.Path, s.Metadata.Count)}
	case "grep":
		return shownTool{icon: "✱", title: fmt.Sprintf(`Grep "%s"`, in.Pattern), about: p.matches(in.Path, s.Metadata.Matches)}
	case "list":
		return shownTool{icon: "→", title: strings.TrimSpace("List " + p.path(in.Path))}
	case "webfetch":
		return shownTool{icon: "%", title: strings.TrimSpace("WebFetch " + in.URL)}
	case "skill":
		return shownTool{icon: "→", title: fmt.Sprintf(`Skill "%s"`, in.Name)}
	case "apply_patch":
		switch n := len(s.Metadata.Files); n {
		case 0:
			return shownTool{icon: "%", title: "Patch"}
		case 1:
			return shownTool{icon: "%", title: "Patch 1 file"}
		default:
			return shownTool{icon: "%", title: fmt.Sprintf("Patch %d files", n)}
		}
	case "task":
		kind := titled(cmp.Or(in.Subagent, "unknown"))
		if in.Description == "" {
			return shownTool{icon: "✓", title: kind + " Task"}
		}
		return shownTool{icon: "✓", title: in.Description, about: kind + " Agent"}
	case "todowrite":
		var list []string
		marks := map[string]string{"completed": "[✓]", "in_progress": "[•]"}
		for _, todo := range in.Todos {
			if todo.Content != "" {
				list = append(list, cmp.Or(marks[todo.Status], "[ ]")+" "+todo.Content)
			}
		}
		return shownTool{icon: "#", title: "Todos", block: true, body: strings.Join(list, "\n")}
	}
	title := s.Title
	if title == "" {
		if title = string(s.Input); len(title) <= len("{}") {
			title = "Unknown"
		}
	}
	return shownTool{icon: "⚙", title: part.Tool + " " + title}
}

// path is a path as it is shown: seen from the directory, if it is below.
func (p *progress) path(path string) string {
	if path == "" {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.dir, path)
	}
	if rel, err := filepath.Rel(p.dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}

// matches says where something was looked for, and how often it was found.
func (p *progress) matches(path string, n *int) (about string) {
	if path != "" {
		about = "in " + p.path(path)
	}
	if n == nil {
		return about
	}
	if about != "" {
		about += " · "
	}
	if *n == 1 {
		return about + "1 match"
	}
	return fmt.Sprintf("%s%d matches", about, *n)
}

// others are the other values that a tool was given, in their order: [offset=1, limit=10].
func others(input []byte, but string) string {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	var list []string
	for dec.More() {
		name, err := dec.Token()
		var value any
		if err != nil || dec.Decode(&value) != nil {
			break
		}
		switch value.(type) {
		case string, json.Number, bool:
			if name != but {
				list = append(list, fmt.Sprintf("%v=%v", name, value))
			}
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// titled is a word with a capital.
func titled(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
