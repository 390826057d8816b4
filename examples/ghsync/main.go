// ghsync puts a plan of epics, stories and tasks into a GitHub repository, as issues: some three calls of gh for each
// item. It is an example of [gh.Client]: a bad moment of GitHub, a limit in the middle, or an answer that is lost, neither
// ends it nor makes anything twice.
//
//	ghsync -R owner/repo [--max-retries N] plan.json
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/gh"
	"github.com/belay-run/belay/retry"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("ghsync", flag.ContinueOnError)
	flags.SetOutput(stderr)
	repo := flags.String("R", "", "the repository, as owner/repo")
	workers := flags.Int("workers", 4, "how many items at a time")
	retries := flags.Int("max-retries", 3, "how often a call that fails for the moment is repeated; 0 turns that off")
	verbose := flags.Bool("v", false, "tell of every call")
	if err := flags.Parse(args); err != nil || *repo == "" || flags.NArg() != 1 {
		fmt.Fprintln(stderr, "usage: ghsync -R owner/repo [--max-retries N] [--workers N] plan.json")
		return 2
	}
	if *retries < 0 {
		fmt.Fprintln(stderr, "ghsync: --max-retries is negative; 0 turns retrying off")
		return 2
	}
	plan, err := open(flags.Arg(0))
	if err != nil {
		fmt.Fprintln(stderr, "ghsync:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	level := slog.LevelWarn
	if *verbose {
		level = slog.LevelDebug
	}
	client := NewClient()
	flags.Visit(func(f *flag.Flag) {
		if f.Name == "max-retries" { // without it, waits for limits are bounded by time
			client.Runner.Policy = policy(*retries)
		}
	})
	client.Logger = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	s := &Sync{Call: Through(client), Repo: *repo, Workers: *workers, Progress: func(title, url string) { fmt.Fprintf(stdout, "%s\t%s\n", title, url) }}
	switch err := s.Run(ctx, plan); {
	case err == nil:
		return 0
	case errors.Is(err, gh.ErrTripped):
		fmt.Fprintln(stderr, "ghsync: GitHub does not answer:", err)
		return 75
	default:
		fmt.Fprintln(stderr, "ghsync:", err)
		return 1
	}
}

func open(name string) (Plan, error) {
	f, err := os.Open(name)
	if err != nil {
		return Plan{}, err
	}
	defer f.Close()
	return ReadPlan(f)
}

// policy is the policy of gh with a number of retries, those for limits included.
func policy(retries int) retry.Policy {
	p, _ := retry.Preset("gh")
	p.MaxRetries, p.CountThrottles = retries, true
	if retries == 0 {
		p.MaxRetries = retry.None
	}
	return p
}

// NewClient is a client that looks whether something was done before it does it again. Its state is in the usual
// directory: GitHub's limits are those of all processes of a user.
func NewClient() *gh.Client {
	return &gh.Client{Runner: belay.Runner{Effects: belay.Effects{Verify: true}, State: &belay.State{}}}
}

// Through calls gh through a client.
func Through(c *gh.Client) Call {
	return func(ctx context.Context, args ...string) (string, error) {
		res, err := c.Run(ctx, args, true)
		return res.Stdout, err
	}
}
