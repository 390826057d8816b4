package page

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/page/view"
	"github.com/belay-run/belay/verdict"
)

// frame is the page of a report, with places for what goes into it.
//
//go:embed report.html
var frame string

// Report is what belay report shows: views of belay ui, as they were at one moment.
type Report struct {
	Made   time.Time   `json:"made"`
	Spend  view.Spend  `json:"spend"`
	Health view.Health `json:"health"`
	Failed view.Runs   `json:"failed"`
	Runs   view.Runs   `json:"runs"`
	Alerts view.Alerts `json:"alerts"`
}

// NewReport asks for the views of a report. The filters are those of the page's address.
func NewReport(ctx context.Context, s *view.Source, q url.Values) (*Report, error) {
	r := &Report{Made: time.Now()}
	failures := maps.Clone(q)
	if failures.Get("class") == "" {
		failures.Set("class", "failed")
	}
	var errs [5]error
	r.Spend, errs[0] = s.Spend(ctx, q)
	r.Health, errs[1] = s.Health(ctx, q)
	r.Failed, errs[2] = s.Runs(ctx, failures)
	r.Runs, errs[3] = s.Runs(ctx, q)
	r.Alerts, errs[4] = s.Alerts(ctx, q)
	return r, cmp.Or(errs[:]...)
}

// HTML is the report as one file that loads nothing. Its policy allows its own script and styles, by their hashes.
func (r *Report) HTML() ([]byte, error) {
	data, err := json.Marshal(r) // which escapes what could end a script
	if err != nil {
		return nil, err
	}
	script, style, icon := bundle("report.js"), file("style.css"), file("icon.svg")
	return []byte(strings.NewReplacer("{{script hash}}", hash(script), "{{style hash}}", hash(style), "{{day}}", r.Made.Format("2006-01-02"),
		"{{icon}}", base64.StdEncoding.EncodeToString(icon), "{{style}}", string(style), "{{data}}", string(data), "{{script}}", string(script)).Replace(frame)), nil
}

// read reads a file of the page, which is part of the executable. classes.js is made of the words that commands use.
func read(name string) ([]byte, error) {
	if name != "classes.js" {
		return assets.ReadFile("assets/" + name)
	}
	nouns := map[verdict.Class]string{}
	for _, class := range verdict.Classes() {
		nouns[class] = message.Noun(class)
	}
	data, err := json.Marshal(nouns)
	return fmt.Appendf(nil, "export const nouns = new Map(Object.entries(%s));\n", data), err
}

// file is a file of the page that is there.
func file(name string) []byte {
	data, err := read(name)
	if err != nil {
		panic(err)
	}
	return data
}

// hash is how a policy names a script or a style that stands in the page.
func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// bundle makes one script of a module and all that it imports: a page that was opened from a file cannot import. Of the language it knows what
// our own modules are written in.
func bundle(entry string) []byte {
	var (
		importing = regexp.MustCompile(`(?m)^import (\{[^}]*\}|\* as \w+) from '\./([\w.]+)';$`)
		exporting = regexp.MustCompile(`(?m)^export ((?:async )?(?:function|const|class|let) (\w+))`)
	)
	var out bytes.Buffer
	out.WriteString("const modules = {};\n")
	var done []string
	var add func(name string)
	add = func(name string) {
		if slices.Contains(done, name) {
			return
		}
		done = append(done, name)
		source := file(name)
		for _, found := range importing.FindAllSubmatch(source, -1) {
			add(string(found[2]))
		}
		var exported []string
		for _, found := range exporting.FindAllSubmatch(source, -1) {
			exported = append(exported, string(found[2]))
		}
		body := importing.ReplaceAllFunc(source, func(line []byte) []byte {
			found := importing.FindSubmatch(line)
			names := strings.TrimPrefix(strings.ReplaceAll(string(found[1]), " as ", ": "), "*: ")
			return fmt.Appendf(nil, "const %s = modules['%s'];", names, found[2])
		})
		body = exporting.ReplaceAll(body, []byte("$1"))
		fmt.Fprintf(&out, "modules['%s'] = (() => {\n%s\nreturn { %s };\n})();\n", name, body, strings.Join(exported, ", "))
	}
	add(entry)
	return out.Bytes()
}
