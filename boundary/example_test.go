package boundary_test

import (
	"context"
	"fmt"

	"github.com/belay-run/belay/boundary"
)

func Example() {
	r := &boundary.Registry[string]{Settings: boundary.Settings{
		Record: func(f boundary.Failure) { fmt.Println("recorded:", f.Name, f.Text) },
	}}
	r.On(boundary.PreToolUse, "lint", func(context.Context, boundary.Event) (string, error) { panic("no such file") })
	r.On(boundary.PreToolUse, "audit", func(_ context.Context, e boundary.Event) (string, error) { return "saw " + e.Action, nil })
	for _, o := range r.Fire(context.Background(), boundary.Event{Name: boundary.PreToolUse, Action: "Bash"}) {
		fmt.Printf("%s %v %q\n", o.Name, o.Failure == nil, o.Result)
	}
	// Output:
	// recorded: lint panic: no such file
	// lint false ""
	// audit true "saw Bash"
}

func ExampleTool() {
	search := boundary.Tool("search", func(_ context.Context, query string) (*boundary.Result, error) {
		var index map[string][]int
		return boundary.TextResult(fmt.Sprint(index[query][0])), nil
	}, boundary.ErrorResult, boundary.Settings{Server: "library"})
	result := search(context.Background(), "belay")
	fmt.Println(result.IsError, result.Content[0].Text)
	// Output:
	// true Error in search: panic: runtime error: index out of range [0] with length 0
}
