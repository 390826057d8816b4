package batch

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/detach"
	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/stdio"
)

// batchOptions are the flags of belay batch that belay run does not have.
type batchOptions struct {
	output, outputDir, jobs, format string
	abortAfter, maxCost, deadline   string
	retryFailed, retryChanged       bool
	failFast, dryRun                bool
	fleet, taskChecks               bool
	dsn, need, files, expires       string
}

// results is where results go. displaced is the file to which they would go by default, if it has those of other tasks.
func (o *batchOptions) results(tasks string) (path, displaced string, err error) {
	switch {
	case o.output != "":
		return o.output, "", nil
	case tasks == "-":
		return "", "", command.Usage(message.Error("tasks from stdin need a file for the results"), message.AsIn("belay batch - -o results.jsonl -- claude -p"))
	}
	registry := batch.Registry{}
	if s, err := command.OpenState(); err == nil {
		registry.Dir = s.BatchDir()
	}
	if path, displaced = registry.DefaultResults(tasks); path == "" {
		example := "belay batch " + printable.Quoted(tasks) + " -o results.jsonl -- claude -p"
		err = command.Usage(message.Error(message.Sentences(displaced+" has the results of other tasks", "name another file for these")), message.AsIn(example))
	}
	return path, displaced, err
}

// others is how many results of another command are kept. With --retry-changed none is: their tasks run again.
func (o *batchOptions) others(p *batch.Plan) int {
	if o.retryChanged {
		p.ResetOther()
	}
	return p.OfOther()
}

// checkFleet refuses flags that mean nothing for tasks that run elsewhere.
func (o *batchOptions) checkFleet() error {
	for _, flag := range [][2]string{{"--dsn", o.dsn}, {"--needs", o.need}, {"--files", o.files}, {"--expires", o.expires}} {
		if !o.fleet && flag[1] != "" {
			return command.Usage(message.Error(message.NeedsFleet(flag[0])), "")
		}
	}
	if !knownFiles(o.files) {
		return command.Usage(message.Error(message.FilesUnknown("--files", o.files)), "")
	}
	_, err := o.expiry()
	return err
}

// expiry is how long a machine has to begin a task; 0 if it does not expire.
func (o *batchOptions) expiry() (time.Duration, error) {
	if o.expires == "" {
		return 0, nil
	}
	d, err := config.ParseDuration(o.expires)
	if err == nil && d <= 0 {
		err = message.Error(fmt.Sprintf("%q is not a time from now, such as 12h", o.expires))
	}
	if err != nil {
		err = command.Usage(message.Error(message.InFlag("expires", err), err), "")
	}
	return d, err
}

// knownFiles reports whether a value of --files is valid; empty means the default.
func knownFiles(by string) bool {
	return by == "" || by == fleetpipe.ByPath || by == fleetpipe.ByGit || by == fleetpipe.ByArchive
}

// needs are the labels that all tasks need.
func (o *batchOptions) needs() (list []string) {
	for one := range strings.SplitSeq(o.need, ",") {
		if one = strings.TrimSpace(one); one != "" {
			list = append(list, one)
		}
	}
	return list
}

// detached is the batch as it is detached. Only tasks on stdin are read before that.
func (o *batchOptions) detached(given config.Given, std stdio.Streams, tasks string) detach.Run {
	r := detach.Run{Command: "batch", Name: given["name"], Quiet: given["quiet"] == "true"}
	if tasks == "-" {
		r.Input = func(ctx context.Context, in io.Reader) ([]byte, error) {
			return detach.ReadAhead(ctx, in, 10*time.Second, func() bool {
				command.Say(std.Err, message.StdinSilent("belay batch"))
				return false
			})
		}
	}
	return r
}

// batch is a batch as the flags ask for it, without its tasks.
func (o *batchOptions) batch() (*batch.Batch, error) {
	b := &batch.Batch{RetryFailed: o.retryFailed, FailFast: o.failFast}
	if o.jobs != "" && o.jobs != "auto" {
		n, err := strconv.Atoi(o.jobs)
		if err != nil || n < 1 || n > 10_000 {
			return nil, command.Usage(message.Error(fmt.Sprintf("%q is not a number of jobs; write a number from 1 to 10000, or auto", o.jobs)), "")
		}
		b.Jobs = n
	}
	if text := o.abortAfter; text != "" {
		number, percent := strings.CutSuffix(text, "%")
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n > 0) || percent && n > 100 || !percent && n != float64(int(n)) {
			return nil, command.Usage(message.Error(fmt.Sprintf("%q is neither a number of failures nor a percentage; write 20 or 5%%", text)), "")
		}
		if percent {
			b.Abort.Percent = n
		} else {
			b.Abort.Failures = int(n)
		}
	}
	if text := o.maxCost; text != "" {
		cost, err := strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
		if err != nil || !(cost > 0) || cost > 1e9 {
			return nil, command.Usage(message.Error(fmt.Sprintf("%q is not an amount in US dollars; write 20 or 0.50", text)), "")
		}
		b.MaxCost = cost
	}
	if o.deadline != "" {
		at, err := command.ParseTime(o.deadline, time.Now())
		if err != nil {
			return nil, command.Usage(message.Error(fmt.Sprintf("%q is neither a duration nor a time in the future; write 8h, 06:30 or an RFC 3339 timestamp", o.deadline)), "")
		}
		b.Deadline = at
	}
	return b, nil
}

// memoryOfAgent is what an agent and its tools need: a claude at work takes 200 to 300 MiB.
const memoryOfAgent = 400 << 20

// maxJobs bounds a number of tasks at a time that finds itself.
func maxJobs(s *config.Settings) int {
	most := 32
	if free := availableMemory(); free > 0 {
		most = max(1, min(64, int(free/memoryOfAgent)))
	}
	if s.MaxParallel > 0 {
		most = min(most, s.MaxParallel)
	}
	return most
}
