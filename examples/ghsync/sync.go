package main

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"
	"sync/atomic"
)

// Call runs gh and returns what it prints.
type Call func(ctx context.Context, args ...string) (string, error)

// Sync puts a plan into a repository.
type Sync struct {
	Call    Call
	Repo    string
	Workers int
	// Progress, if not nil, is told of each item that is done.
	Progress func(title, url string)

	calls atomic.Int64
}

// item is a node on its way to GitHub.
type item struct {
	Node
	kind   string
	parent *item
	number string
}

// Run puts every item there, parents first. The first error ends it.
func (s *Sync) Run(ctx context.Context, plan Plan) error {
	level := make([]*item, 0, len(plan.Epics))
	for _, n := range plan.Epics {
		level = append(level, &item{Node: n})
	}
	for depth := 0; len(level) > 0; depth++ {
		var next []*item
		for _, i := range level {
			i.kind = kinds[min(depth, len(kinds)-1)]
			for _, n := range i.Children {
				next = append(next, &item{Node: n, parent: i})
			}
		}
		if err := s.level(ctx, level); err != nil {
			return err
		}
		level = next
	}
	return nil
}

// level does the items of one level, several at a time.
func (s *Sync) level(ctx context.Context, items []*item) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	queue := make(chan *item)
	for range max(s.Workers, 1) {
		wait.Go(func() {
			for i := range queue {
				if ctx.Err() != nil {
					continue
				}
				if err := s.item(ctx, i); err != nil {
					cancel(fmt.Errorf("%s: %w", i.Title, err))
				}
			}
		})
	}
	for _, i := range items {
		queue <- i
	}
	close(queue)
	wait.Wait()
	return context.Cause(ctx)
}

// item makes the issue, tells its parent of it, and looks whether it is as it should be.
func (s *Sync) item(ctx context.Context, i *item) error {
	out, err := s.call(ctx, "issue", "create", "-R", s.Repo, "--title", i.Title, "--body", i.Body, "--label", i.kind)
	if err != nil {
		return err
	}
	url := strings.TrimSpace(out)
	i.number = path.Base(url)
	if i.parent != nil {
		if _, err := s.call(ctx, "issue", "comment", i.parent.number, "-R", s.Repo, "--body", "Part of this: "+url); err != nil {
			return err
		}
	}
	title, err := s.call(ctx, "issue", "view", i.number, "-R", s.Repo, "--json", "title", "--jq", ".title")
	if err != nil {
		return err
	}
	if strings.TrimSpace(title) != i.Title {
		return fmt.Errorf("%s is called %q", url, title)
	}
	if s.Progress != nil {
		s.Progress(i.Title, url)
	}
	return nil
}

func (s *Sync) call(ctx context.Context, args ...string) (string, error) {
	s.calls.Add(1)
	return s.Call(ctx, args...)
}
