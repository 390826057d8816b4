//go:build linux

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// outcome is what came of a script: values by names such as "log[0].error_type", all that is different each time taken out.
type outcome map[string]string

// read collects what came of a script.
func read(s *script, dir, bin string, ended []callResult) outcome {
	o := outcome{}
	n := newNormaliser(s, dir, bin)
	o.records(n, "log", filepath.Join(dir, "state", "log.jsonl"))
	o.records(n, "calls", filepath.Join(dir, "calls"))
	o.records(n, "inputs", filepath.Join(dir, "inputs"))
	for _, where := range []string{"work/.logs", "work/below/.logs", "work/own-logs"} {
		o.records(n, "claude_invocations", filepath.Join(dir, where, "claude_invocations.jsonl"))
	}
	for i, h := range ended {
		name := fmt.Sprintf("step[%d].", i)
		o[name+"exit"] = fmt.Sprint(h.code)
		if h.late {
			o[name+"exit"] = "did not end"
		}
		o.output(n, name+"stdout", h.stdout)
		o.output(n, name+"result", h.result)
		o[name+"stderr"] = n.said(string(h.stderr))
	}
	if names := left(dir); len(names) > 0 {
		o["left"] = strings.Join(names, " ")
	}
	return o
}

// records adds a file of JSON lines.
func (o outcome) records(n *normaliser, name, path string) {
	for i, line := range lines(path) {
		o.json(n, fmt.Sprintf("%s[%d]", name, i), line)
	}
}

// output adds what was printed: field by field if every line of it is a JSON object, as Belay's own results and lists are.
func (o outcome) output(n *normaliser, name string, data []byte) {
	if len(data) == 0 {
		return
	}
	if data[0] == '{' || data[0] == '[' {
		list := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
		if !slices.ContainsFunc(list, func(line []byte) bool { return !json.Valid(line) }) {
			for i, line := range list {
				at := name
				if len(list) > 1 {
					at = fmt.Sprintf("%s[%d]", name, i)
				}
				o.json(n, at, line)
			}
			return
		}
	}
	o[name] = n.printed(string(data))
}

// json adds a value: an object by its fields, everything else as it is.
func (o outcome) json(n *normaliser, name string, data []byte) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		o[name] = n.printed(string(data))
		return
	}
	object, ok := v.(map[string]any)
	if !ok {
		o[name] = encode(n.value("", v, nil))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if value := n.value(key, object[key], object); value != nil || object[key] == nil {
			o[name+"."+key] = encode(value)
		}
	}
}

// encode writes a value in one way.
func encode(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// difference is one value that two outcomes do not share.
type difference struct {
	name     string
	old, new string
}

// isWords reports whether it is one of what belay says to people, which is counted apart.
func (d difference) isWords() bool { return strings.HasSuffix(d.name, ".stderr") }

// String is the line that the report shows and that -allow is held against.
func (d difference) String() string {
	old, new := d.old, d.new
	if d.isWords() || strings.HasSuffix(d.name, ".stdout") || strings.HasSuffix(d.name, ".error") {
		old, new = around(old, new)
	}
	return fmt.Sprintf("%s: %s → %s", d.name, short(old), short(new))
}

// around cuts off what two texts share at their begin and end, but for a little.
func around(a, b string) (string, string) {
	const margin = 60
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	from = max(from-margin, 0)
	to := 0
	for to < len(a)-from && to < len(b)-from && a[len(a)-1-to] == b[len(b)-1-to] {
		to++
	}
	to = max(to-margin, 0)
	return fmt.Sprintf("%q", a[from:len(a)-to]), fmt.Sprintf("%q", b[from:len(b)-to])
}

// short bounds what is shown of a value.
func short(s string) string {
	if len(s) > 400 {
		return s[:300] + " … " + s[len(s)-80:]
	}
	return s
}

// none stands for a value that is not there.
const none = "(none)"

// get is a value of an outcome.
func (o outcome) get(name string) string {
	if value, ok := o[name]; ok {
		return value
	}
	return none
}

// names are the names of all outcomes, in the order of the report.
func names(all ...outcome) []string {
	set := map[string]bool{}
	for _, o := range all {
		for name := range o {
			set[name] = true
		}
	}
	return slices.SortedFunc(maps.Keys(set), byWeight)
}

// weights are what names begin with, the most telling first.
var weights = []string{"step", "log", "calls", "inputs", "left", "claude_invocations"}

// byWeight puts exit codes before logs, and log[2] before log[10].
func byWeight(a, b string) int {
	weight := func(s string) int {
		return slices.IndexFunc(weights, func(begin string) bool { return strings.HasPrefix(s, begin) })
	}
	pad := func(s string) string {
		var out strings.Builder
		for part := range strings.SplitSeq(s, "[") {
			if i := strings.IndexByte(part, ']'); i > 0 {
				part = strings.Repeat("0", max(4-i, 0)) + part
			}
			out.WriteString(part + "[")
		}
		return out.String()
	}
	return cmp.Or(cmp.Compare(weight(a), weight(b)), cmp.Compare(pad(a), pad(b)))
}
