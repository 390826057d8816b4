package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
)

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
