package batch

import (
	"strings"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/printable"
)

// batchCommand is the command line of a batch, from which those are made that continue it or repeat its failures.
type batchCommand struct {
	options        batchOptions
	given          config.Given
	tasks, results string
	args           []string // after the --

	displaced string // the file where the results would be by default, if it has those of other tasks
	others    int    // results of another command, which are kept
}

// continued is the command that continues a batch which has stopped for that reason. A deadline that has passed is left out: it may be one that
// cannot be given again.
func (c batchCommand) continued(why batch.StopReason) string {
	if why == batch.DeadlinePassed {
		c.options.deadline = ""
	}
	return c.String()
}

// retrying is the command that runs the failed tasks again.
func (c batchCommand) retrying() string { return c.again().String() }

// again is the batch in which the failed tasks run again.
func (c batchCommand) again() batchCommand {
	c.options.retryFailed, c.options.deadline = true, ""
	return c
}

// String is the command as it can be pasted into a shell.
func (c batchCommand) String() string {
	return "belay batch " + strings.Join(c.words(printable.Quoted), " ")
}

// words are the arguments after belay batch, each as quoted makes it.
func (c batchCommand) words(quoted func(string) string) (words []string) {
	flag := func(given bool, name string) {
		if given {
			words = append(words, name)
		}
	}
	value := func(name, text string) {
		switch {
		case text == "":
		case strings.HasPrefix(text, "-"):
			words = append(words, name+"="+quoted(text))
		default:
			words = append(words, name, quoted(text))
		}
	}
	o := &c.options
	flag(o.fleet, "--fleet")
	value("--dsn", o.dsn)
	value("--needs", o.need)
	value("--files", o.files)
	value("--expires", o.expires)
	flag(o.retryFailed, "--retry-failed")
	flag(o.retryChanged, "--retry-changed")
	value("-j", o.jobs)
	value("--format", o.format)
	value("--output-dir", o.outputDir)
	flag(o.failFast, "--fail-fast")
	flag(o.taskChecks, "--task-checks")
	value("--abort-after", o.abortAfter)
	value("--max-cost", o.maxCost)
	value("--deadline", o.deadline)
	for i := range config.Table {
		s := &config.Table[i]
		text, ok := c.given[s.Name]
		switch {
		case !ok:
		case !s.Bare() && text != "":
			value("--"+s.Name, text)
		case s.Bare() && text == "true":
			flag(true, "--"+s.Name)
		default:
			flag(true, "--"+s.Name+"="+quoted(text))
		}
	}
	words = append(words, quoted(c.tasks), "-o", quoted(c.results))
	if len(c.args) > 0 {
		words = append(words, "--")
	}
	for _, arg := range c.args {
		words = append(words, quoted(arg))
	}
	return words
}
