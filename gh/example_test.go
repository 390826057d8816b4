package gh_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/gh"
)

// An issue is created once, whatever happens on the way: if its answer is lost, it is looked for before it is created
// again.
func ExampleClient_Run() {
	client := &gh.Client{Runner: belay.Runner{Effects: belay.Effects{Verify: true}}}
	res, err := client.Run(context.Background(), []string{"issue", "create", "--title", "A title", "--body", "A body"}, true)
	switch {
	case errors.Is(err, belay.ErrMayBeDone):
		log.Fatal("look for it before you run this again: ", err)
	case err != nil:
		log.Fatal(err)
	}
	fmt.Print(res.Stdout) // its address
}

func ExampleClient_GraphQL() {
	client := &gh.Client{}
	var answer struct{ Viewer struct{ Login string } }
	if err := client.GraphQL(context.Background(), "{ viewer { login } }", nil, &answer); err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Viewer.Login)
}
