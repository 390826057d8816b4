package belay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/engine"
)

// inEngine are the types of the engine that have a method of that name.
func inEngine(t *testing.T, method string) (names []string) {
	t.Helper()
	paths, _ := filepath.Glob("internal/engine/*.go")
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == method {
				names = append(names, strings.TrimPrefix(typeName(f.Recv.List[0].Type), "*"))
			}
		}
	}
	slices.Sort(names)
	return names
}

// handled are the types of the engine that have a case in a function of this package.
func handled(t *testing.T, path, function string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != function {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := n.(*ast.CaseClause); ok {
				for _, e := range c.List {
					names = append(names, strings.TrimPrefix(strings.TrimPrefix(typeName(e), "*"), "engine."))
				}
			}
			return true
		})
	}
	slices.Sort(names)
	return names
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return "*" + typeName(e.X)
	case *ast.SelectorExpr:
		return typeName(e.X) + "." + e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return fmt.Sprintf("%T", e)
}

// An event that the engine gets, this package must get too.
func TestEvents_AreAllKnown(t *testing.T) {
	if in, here := inEngine(t, "event"), handled(t, "event.go", "newEvent"); len(in) < 20 || !slices.Equal(in, here) {
		t.Errorf("the engine has the events\n%q, newEvent knows\n%q", in, here)
	}
}

// A cause that the engine gets, this package must get too.
func TestCauses_AreAllKnown(t *testing.T) {
	// These are no causes of an [Error]: parts of a message, or handled by newError.
	others := []string{"Error", "Interrupt", "NotAdmitted", "OutputMatched", "TooLate", "UsageError", "WorkDone"}
	in := slices.DeleteFunc(inEngine(t, "Error"), func(name string) bool { return slices.Contains(others, name) })
	if here := handled(t, "error.go", "newCause"); len(in) < 9 || !slices.Equal(in, here) {
		t.Errorf("the engine has the causes\n%q, newCause knows\n%q", in, here)
	}
}

// These are written out for go doc to show them.
func TestConstants_AreTheEngines(t *testing.T) {
	if LastSession != engine.LastSession || NoLogDir != engine.NoLogDir || BusyWait != OnBusy(engine.BusyWait) || BusyReplace != OnBusy(engine.BusyReplace) || BusyFail != OnBusy(engine.BusyFail) {
		t.Error("the engine has others")
	}
}

// fill gives every field of a value something that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 16, 4, 0, 0, 0, time.UTC)))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.String:
		v.SetString("some text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Uint8: // of a line, or of JSON
		v.SetUint('7')
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		if v.Type() != reflect.TypeFor[*engine.Output]() {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem())
			return
		}
		o := new(engine.Output)
		io.WriteString(o, "some text")
		v.Set(reflect.ValueOf(o))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		elem := reflect.New(v.Type().Elem()).Elem()
		fill(elem)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("some text"), elem)
	case reflect.Interface:
		v.Set(reflect.ValueOf(errors.New("some text")))
	default:
		panic(v.Type().String() + " cannot be filled")
	}
}

var engineEvents = []engine.Event{engine.AttemptStarted{}, engine.AttemptFailed{}, engine.Waiting{}, engine.AtGate{}, engine.ScopeBusy{}, engine.GateTrouble{},
	engine.WaitOver{}, engine.Stopping{}, engine.LeftRunning{}, engine.Reclaimed{}, engine.StateTrouble{}, engine.ScopeTrouble{}, engine.GateFailing{},
	engine.LogLarge{}, engine.InnerRetry{}, engine.SessionGone{}, engine.Plain{}, engine.UnknownOption{}, engine.UntestedVersion{}, engine.StdinSilent{},
	engine.OwnLogTrouble{}, engine.FoundDone{}, engine.AlertRaised{}, engine.CostNotice{}, engine.FellBack{}, engine.FallbackSkipped{}, engine.AgentEvent{}, engine.Missed{}}

// Every event arrives as the one of the same name, with all that it says.
func TestEvents_KeepTheirFields(t *testing.T) {
	var names []string
	for _, e := range engineEvents {
		of := reflect.TypeOf(e)
		names = append(names, of.Name())
		filled := reflect.New(of).Elem()
		fill(filled)
		got := newEvent(filled.Interface().(engine.Event))
		if reflect.TypeOf(got).Name() != of.Name() {
			t.Errorf("%s has become %T", of.Name(), got)
		}
		got.event() // what seals the set
		switch got := got.(type) {
		case LeftRunning:
			if len(got.Processes) != 1 || got.Processes[0] != (Process{7, "some text"}) {
				t.Errorf("%+v", got)
			}
		case Reclaimed:
			if len(got.Processes) != 1 || got.Processes[0] != (Process{7, "some text"}) {
				t.Errorf("%+v", got)
			}
		case AttemptFailed:
			if got.Attempt != 7 || got.Verdict.Rule != "some text" || got.Stderr.String() != "some text" {
				t.Errorf("%+v", got)
			}
		default: // two types with the same fields are printed alike
			if in, out := fmt.Sprintf("%+v", filled), fmt.Sprintf("%+v", got); in != out {
				t.Errorf("%s: %s has become %s", of.Name(), in, out)
			}
		}
	}
	if slices.Sort(names); !slices.Equal(names, inEngine(t, "event")) {
		t.Errorf("these are not all events: %q", names)
	}
	if e := newEvent(nil); e != nil {
		t.Errorf("nothing has become %T", e)
	}
}

// Every cause arrives as the one of the same name, with all that it says. The library knows no flag and no command line
// that could be typed.
func TestCauses_KeepTheirFields(t *testing.T) {
	var names []string
	for _, e := range []error{new(engine.GateRefused), new(engine.ScopeTaken), new(engine.MaxCostReached), new(engine.RetriesSpent), new(engine.EffectUnknown),
		new(engine.NoSession), new(engine.StdinTimeout), new(engine.TooLong), new(engine.InputRead), new(engine.FallbackRefused), new(engine.Replaced)} {
		of := reflect.TypeOf(e).Elem()
		names = append(names, of.Name())
		fill(reflect.ValueOf(e).Elem())
		got := newError(&engine.Error{Cause: e}).(*Error).Cause
		if reflect.TypeOf(got).Elem().Name() != of.Name() || got.Error() != e.Error() || !reflect.DeepEqual(reflect.ValueOf(got).Elem().Convert(of).Interface(), reflect.ValueOf(e).Elem().Interface()) {
			t.Errorf("%T %v has become %T %v", e, e, got, got)
		}
		_, in := reflect.TypeOf(e).MethodByName("Unwrap")
		if _, out := reflect.TypeOf(got).MethodByName("Unwrap"); in != out {
			t.Errorf("%T unwraps %v, %T %v", e, in, got, out)
		}
		if text := got.Error(); strings.Contains(text, "--") || strings.Contains(text, "belay ") {
			t.Errorf("%T speaks of a command line: %s", got, text)
		}
	}
	if slices.Sort(names); !slices.Equal(names, handled(t, "error.go", "newCause")) {
		t.Errorf("these are not all causes: %q", names)
	}
	for _, e := range []error{nil, io.EOF} {
		if got := newError(e); got != e {
			t.Errorf("%v has become %v", e, got)
		}
	}
}

// A result arrives with all that it says, and is written as the engine writes it.
func TestResult_KeepsItsFields(t *testing.T) {
	var in engine.Result
	fill(reflect.ValueOf(&in).Elem())
	out := newResult(&in)
	for i := range reflect.TypeOf(in).NumField() {
		name := reflect.TypeOf(in).Field(i).Name
		if name == "Err" {
			name = "Error"
		}
		field := reflect.ValueOf(out).Elem().FieldByName(name)
		if !field.IsValid() || field.IsZero() {
			t.Errorf("the engine's result says %s, this one does not", name)
		}
	}
	back := out.engine()
	if len(back.Left) != 1 || back.Left[0].PID != 7 || back.Left[0].Name != "some text" {
		t.Errorf("%+v", back.Left)
	}
	back.Left = in.Left // of which this package says less
	if !reflect.DeepEqual(*back, in) {
		t.Errorf("%+v has become %+v", in, *back)
	}
	var want, got, text bytes.Buffer
	if err := errors.Join(in.WriteJSON(&want), out.WriteJSON(&got), out.WriteText(&text)); err != nil || got.String() != want.String() {
		t.Errorf("%v\n%s\nwant %s", err, got.Bytes(), want.Bytes())
	}
	data, err := json.Marshal(map[string]any{"by value": *out, "by pointer": out})
	if one := strings.TrimSpace(want.String()); err != nil || string(data) != `{"by pointer":`+one+`,"by value":`+one+`}` {
		t.Errorf("%s, %v", data, err)
	}
	if !strings.HasPrefix(text.String(), "Status: SUCCESS\nsome text\n") {
		t.Errorf("%s", text.Bytes())
	}
}

// The tags are the names that docs/json.md has, which are the fields of what is written.
func TestResult_TagsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
