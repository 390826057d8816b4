// Package trace names the trace that a run belongs to, and the spans of it, in the form of the W3C's Trace Context.
//
// The ids of spans are made from the id of the run and the number of the attempt: one who knows these knows those, before the run and long
// after it, and a span that is sent twice has the same id both times.
package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// Var is the environment variable by which a process tells its children of its trace, and StateVar what vendors add to that.
const (
	Var      = "TRACEPARENT"
	StateVar = "TRACESTATE"
)

// Parent is a span that others belong below. The zero value is none.
type Parent struct {
	Trace string // 32 hexadecimal digits
	Span  string // 16
	Flags string // 2; the last bit says that the trace is recorded
}

const form = "00-00000000000000000000000000000000-0000000000000000-00"

// Parse reads the value of the variable:
//
//	00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
//
// Later versions may have more behind that, which is left out. What is not well-formed is none.
func Parse(value string) (p Parent, ok bool) {
	version, more := value[:min(len(value), 2)], value[min(len(value), len(form)):]
	if more != "" && (version == "00" || more[0] != '-') || version == "ff" {
		return p, false
	}
	value = value[:len(value)-len(more)]
	if len(value) != len(form) || value[3:35] == form[3:35] || value[36:52] == form[36:52] {
		return p, false
	}
	for i, c := range []byte(value) {
		if hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'; hex != (form[i] == '0') || !hex && c != '-' {
			return p, false
		}
	}
	return Parent{value[3:35], value[36:52], value[53:]}, true
}

// OfEnviron is the value of the variable in an environment, as the first four fields of it; empty if there is none, or it is not well-formed.
func OfEnviron(env []string) string {
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, Var+"="); ok {
			if _, ok := Parse(value); ok {
				return value[:len(form)]
			}
			return ""
		}
	}
	return ""
}

// String is the value of the variable.
func (p Parent) String() string { return "00-" + p.Trace + "-" + p.Span + "-" + p.Flags }

// Sampled says that the trace is recorded.
func (p Parent) Sampled() bool {
	n, err := strconv.ParseUint(p.Flags, 16, 8)
	return err == nil && n&1 == 1
}

// OfRun is the span of a run. caller is the value of the variable that the run was started with; without one, the run begins a trace.
func OfRun(run, caller string) Parent {
	p, ok := Parse(caller)
	if !ok {
		p.Trace, p.Flags = id(run, "trace", 16), "01"
	}
	p.Span = id(run, "run", 8)
	return p
}

// OfAttempt is the span of an attempt of the run.
func OfAttempt(run, caller string, attempt int) Parent {
	p := OfRun(run, caller)
	p.Span = Span(run, "attempt", attempt)
	return p
}

// Span is the id of a span below those of a run: of a kind, by its numbers.
func Span(run, kind string, numbers ...int) string {
	for _, n := range numbers {
		kind += "/" + strconv.Itoa(n)
	}
	return id(run, kind, 8)
}

// id has so many bytes of a digest. All zeros would be no id; a digest that begins so is not to be found.
func id(run, what string, size int) string {
	sum := sha256.Sum256([]byte("belay/" + run + "/" + what))
	return hex.EncodeToString(sum[:size])
}

// Environ is an environment in which the variable has this value, and only this.
func (p Parent) Environ(env []string) []string {
	kept := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if !strings.HasPrefix(kv, Var+"=") {
			kept = append(kept, kv)
		}
	}
	return append(kept, Var+"="+p.String())
}
