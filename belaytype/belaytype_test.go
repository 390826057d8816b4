package belaytype

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// The library knows no flag and no command line that could be typed.
func TestCauses_NameNoCommandLine(t *testing.T) {
	for _, e := range []error{&GateRefused{Key: "k"}, &ScopeTaken{Key: "k"}, &MaxCostReached{Spent: 2, Limit: 1}, &MaxCostReached{Budget: "b", Window: "day"},
		&MaxCostReached{Run: "r"}, &RetriesSpent{Key: "k"}, &EffectUnknown{Verifiable: true, Err: errors.New("x")}, &NoSession{Profile: "claude"},
		&StdinTimeout{Command: "claude"}, &InputRead{Command: "claude"}, &FallbackRefused{Fallback: "codex", Why: "x"}, &Replaced{By: "r"}} {
		if text := e.Error(); text == "" || strings.Contains(text, "--") || strings.Contains(text, "belay ") {
			t.Errorf("%T: %q", e, text)
		}
	}
}

// A result is written alike by value and by pointer.
func TestResult_JSON(t *testing.T) {
	r := Result{ID: "r", Success: true, Left: []Process{{PID: 7, Name: "sleep"}}}
	var line strings.Builder
	must.OK(t, r.WriteJSON(&line))
	data, err := json.Marshal(map[string]any{"by value": r, "by pointer": &r})
	if one := strings.TrimSpace(line.String()); err != nil || string(data) != `{"by pointer":`+one+`,"by value":`+one+`}` || !strings.Contains(one, `"left_running":[7]`) {
		t.Errorf("%s, %v", data, err)
	}
}

// The tags are the names that docs/json.md has, which are the fields of what is written.
func TestResult_TagsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../docs/json.md")
	must.OK(t, err)
	_, table, _ := strings.Cut(string(doc), "## The result of a run")
	table, _, _ = strings.Cut(table, "\n\n`--result-file`")
	var documented []string
	for _, row := range strings.Split(table, "\n") {
		if cells := strings.Split(row, "|"); len(cells) > 2 {
			for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cells[1], -1) {
				documented = append(documented, name[1])
			}
		}
	}
	var written map[string]any
	data, err := json.Marshal(&Result{})
	if err == nil {
		err = json.Unmarshal(data, &written)
	}
	must.OK(t, err)
	for _, name := range documented {
		if _, ok := written[name]; !ok {
			t.Errorf("docs/json.md has %s, which is not written", name)
		}
		delete(written, name)
	}
	if len(documented) < 20 || len(written) > 0 {
		t.Errorf("docs/json.md does not have %v", written)
	}
	// What stands in the Verdict, and what says which JSON it is.
	tags := []string{"schema_version", "error_type", "retryable", "sent", "provider", "model", "http_status"}
	for i := range reflect.TypeFor[Result]().NumField() {
		if tag := reflect.TypeFor[Result]().Field(i).Tag.Get("json"); tag != "-" {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	if slices.Sort(documented); !slices.Equal(tags, documented) {
		t.Errorf("the tags are\n%q, documented are\n%q", tags, documented)
	}
}
