package main

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/internal/version"
)

var update = flag.Bool("update", false, "write the golden file anew")

// What belay and belayd exchange is on record by its number, so that it cannot change unnoticed: a belay of one release meets
// the belayd of another while a machine is upgraded.
func TestFormat_IsOnRecord(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "format %d\n", version.Format)
	for _, c := range belayd.Commands() {
		fmt.Fprintf(&b, "%s", c.Name)
		for _, f := range c.Flags {
			fmt.Fprintf(&b, " --%s", f.Name)
			if f.Arg != "" {
				fmt.Fprintf(&b, "=%s", f.Arg)
			}
		}
		fmt.Fprintln(&b)
	}
	line := reflect.TypeFor[journal.Entry]()
	for i := range line.NumField() {
		fmt.Fprintf(&b, "log %s %s\n", line.Field(i).Tag.Get("json"), line.Field(i).Type)
	}
	const golden = "testdata/format.golden"
	if *update {
		must.OK(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	must.OK(t, err)
	if b.String() != string(want) {
		t.Errorf("what belay and belayd exchange has changed; if format %d has been released, raise version.Format, and then: go test ./cmd/belayd -run Format -update\n%s",
			version.Format, b.String())
	}
}
