// outside is a program that uses Belay as any other would: a hook that panics, a tool that returns an error, and a call that is
// repeated until it gives up. Each argument is a state directory for one round of the three; "-" means none.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/boundary"
	"github.com/belay-run/belay/retry"
)

func main() {
	for _, dir := range os.Args[1:] {
		var state *belay.State
		if dir != "-" {
			var err error
			if state, err = belay.OpenState(dir); err != nil {
				panic(err)
			}
			state.Observe = func(e belay.Event) { fmt.Printf("%T %+v\n", e, e) }
		}
		round(state)
	}
}

func round(state *belay.State) {
	ctx := context.Background()
	hooks := &boundary.Registry[string]{Settings: boundary.Settings{Record: state.Recorder()}}
	hooks.On(boundary.PreToolUse, "guard", func(context.Context, boundary.Event) (string, error) { panic("no guard") })
	hooks.On(boundary.PreToolUse, "good", func(context.Context, boundary.Event) (string, error) { return "allowed", nil })
	fmt.Println(boundary.Results(hooks.Fire(ctx, boundary.Event{Name: boundary.PreToolUse, Action: "Bash", Session: "s1"})))

	search := boundary.Tool("search", func(context.Context, string) (*boundary.Result, error) { return nil, errors.New("no index") },
		boundary.ErrorResult, boundary.Settings{Server: "files", Record: state.Recorder()})
	fmt.Println(search(ctx, "all my secrets").Content)

	policy := retry.Policy{BaseDelay: time.Nanosecond, OnGiveUp: func(err error) { state.HandleError(err, belay.Session{Profile: "weather"}, nil) }}
	_, err := retry.Do(ctx, policy, func(context.Context) (int, error) { return 0, syscall.ECONNRESET })
	fmt.Println(err)
}
