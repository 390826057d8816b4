// Package batch is belay batch: options from flags, a recipe for each task, and a view of how the batch stands. The scheduler, the results and the fleet are in internal/batch.
package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/detach"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/stdio"
)

// notInBatch are settings of belay run that make no sense for many tasks, or that belay batch has in another sense.
var notInBatch = []string{"prompt", "prompt-file", "no-stdin", "replay-stdin", "stream", "output-format", "result-file", "github", "exit-code", "notify-after",
	"resume", "resume-or-new", "resume-interrupted", "max-cost", "dry-run"}

// batchGroup is the heading of the flags that only belay batch has.
const batchGroup = "Tasks"

// New makes belay batch.
func New() *cobra.Command {
	var o batchOptions
	cmd := &cobra.Command{
		Use:   "batch TASKS [flags] [-- command [args…]]",
		Short: "Run many tasks, and continue where it was stopped",
		Example: `Ask claude for each line of a file:
  belay batch questions.txt -o answers.jsonl -- claude -p
Continue after a crash, a reboot or Ctrl-C: the same command again:
  belay batch questions.txt -o answers.jsonl -- claude -p
Run a command for each row of a table:
  belay batch users.csv -- ./migrate --user {id} --region {region}
Let each file of a directory be a prompt, four at a time, for at most $20:
  belay batch -j 4 --max-cost 20 prompts/ -- codex exec
Run the failed tasks again:
  belay batch --retry-failed questions.txt -o answers.jsonl -- claude -p
Show how far it is, from another terminal:
  belay batch status answers.jsonl`,
		Long: `Runs one command for each task, several at a time, and appends a line of JSON to the results as each ends. Stopped or killed at any moment, the same
command continues: no finished task is repeated, and an interrupted agent continues its session.

TASKS is a file with one task per line, a CSV file with a header, a directory in which each file is a prompt, or - for stdin. A line is a plain prompt, or a
JSON object. Its keys are id, prompt, args, cwd, env, profile, model, name, tags, timeout, max_cost, depends_on, needs and files. The format is found by the file's
name and its first bytes.

An agent gets the prompt of each task in its own way. In any other command {} stands for the prompt, {id} for the id, {file} for the path of a file, and
{name} for a column or a key of that name. A command without any of them reads the prompt from stdin. No shell is involved.

A limit pauses the batch, and it continues when the limit lifts, however many hours that takes, unless --max-wait is given. All other flags are those of belay
run and apply to each task.

Exit codes: 0 if all tasks are done, 1 if some have failed, 2 if the tasks or the flags are wrong. With 75 the batch is paused: run the same command later. With
78 a key or the billing is wrong, and with 130 or 143 the batch was stopped by a signal.`,
	}
	flags := cmd.Flags()
	text := func(to *string, name, short, kind, usage string) {
		flags.VarP(command.TextValue(to, kind), name, short, usage)
		flags.SetAnnotation(name, command.GroupKey, []string{batchGroup})
	}
	flag := func(to *bool, name, usage string) {
		flags.BoolVar(to, name, false, usage)
		flags.SetAnnotation(name, command.GroupKey, []string{batchGroup})
	}
	text(&o.output, "output", "o", "FILE", "append results to FILE (default: TASKS with .results.jsonl in place of its extension, or behind it if other tasks have that file)")
	text(&o.outputDir, "output-dir", "", "DIR", "write the output of each task to a file in DIR instead of into the results")
	text(&o.jobs, "jobs", "j", "N|auto", "run N tasks at a time; auto finds out how many the service and the machine take (default auto)")
	text(&o.format, "format", "", "NAME", "how tasks are written: jsonl, lines, csv or files (default: by name and content)")
	flag(&o.retryFailed, "retry-failed", "also run the tasks again that have failed")
	flag(&o.retryChanged, "retry-changed", "also run the tasks again whose results are of another command or model")
	flag(&o.failFast, "fail-fast", "start nothing more once a task has failed")
	text(&o.abortAfter, "abort-after", "", "N[%]", "start nothing more after N failures, or when N% of at least ten finished tasks have failed")
	text(&o.maxCost, "max-cost", "", "USD", "start nothing more once all tasks together have cost USD")
	text(&o.deadline, "deadline", "", "T", "stop at T, such as 8h, 06:30 or 2026-11-17T06:30:00Z")
	flag(&o.dryRun, "dry-run", "print what would run and what it costs at least, and do nothing")
	flag(&o.taskChecks, "task-checks", "take the check of a task, and its worktree_setup, from the keys or columns of these names; they are commands for the shell, so only with tasks that you trust")
	flag(&o.fleet, "fleet", "run the tasks on the machines of the fleet")
	text(&o.dsn, "dsn", "", "DSN", "the fleet's PostgreSQL, without a password (default: BELAY_FLEET_DSN, PGHOST …)")
	text(&o.need, "needs", "", "LABELS", "with --fleet: run only on machines with these labels, such as gpu,linux")
	text(&o.files, "files", "", "path|git|archive", "with --fleet: how machines get the files of a task: by a shared path, as the git commit that is checked out, or as an archive (default path)")
	text(&o.expires, "expires", "", "D", "with --fleet: a task that no machine has begun within D of its submission fails, such as 12h (default: none)")
	later := detach.AddFlags(cmd)
	given := command.AddSettings(cmd, func(s *config.Setting) bool { return !slices.Contains(notInBatch, s.Name) })
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		before := len(args)
		if dash := cmd.ArgsLenAtDash(); dash >= 0 {
			before = dash
		}
		example := message.AsIn("belay batch tasks.jsonl -- claude -p")
		switch {
		case before == 0:
			return command.Usage(message.Error(message.BatchNoTasks()), example)
		case before > 1:
			return command.Usage(message.Error(fmt.Sprintf("unexpected argument %q; the command goes after --", args[1])), example)
		}
		ctx, err := later.Put(cmd.Context())
		if err != nil {
			return err
		}
		return runBatch(ctx, command.Streams(cmd), given, &o, args[0], args[before:])
	}
	cmd.AddCommand(newBatchStatus(), newBatchResults())
	return cmd
}

// runBatch is belay batch.
func runBatch(ctx context.Context, std stdio.Streams, given config.Given, o *batchOptions, tasks string, argv []string) error {
	b, err := o.batch()
	if err == nil {
		err = o.checkFleet()
	}
	if err == nil && o.fleet && given["worktree"] != "" {
		err = command.Usage(message.Error(message.NotTogether("--worktree", "--fleet")), "")
	}
	if err != nil {
		return err
	}
	results, displaced, err := o.results(tasks)
	if err != nil {
		return err
	}
	if l := detach.LaterOf(ctx); l.Detaches(ctx) && !o.dryRun {
		return detach.Start(ctx, std, l, o.detached(given, std, tasks))
	}
	source, spool, err := openTasks(ctx, std, tasks, results, batch.Format(o.format))
	defer spool.Discard()
	if err != nil {
		return err
	}
	recipe, err := newRecipe(given, o, argv)
	if err != nil {
		return err
	}
	if command.OwnsProcess(ctx) != nil {
		debug.SetGCPercent(collection(source.Path))
	}
	columns, err := source.Columns()
	if err == nil {
		err = recipe.template.Check(columns)
	}
	if err == nil {
		b.Plan, err = batch.Check(source, recipe.check)
	}
	if err != nil {
		return wrongTasks(source.Name(), err)
	}
	if b.Plan.Len() == 0 {
		return command.Usage(message.Error(fmt.Sprintf("%s has no tasks", source.Name())), "")
	}
	b.Plan.Command = recipe.fingerprint(argv)
	if err := batch.CheckResults(results, o.output == "", tasks); err != nil { // before anything is written
		return wrongResults(results, err)
	}
	if o.dryRun {
		return batchDryRun(std, recipe, b, results)
	}
	if err := o.makeOutputDir(tasks); err != nil {
		return err
	}
	ledger, err := batch.OpenLedger(results, tasks)
	if err == nil {
		if err = ledger.Load(b.Plan); err == nil {
			err = spool.Keep()
		}
		if err != nil {
			err = errors.Join(err, ledger.Close(false))
		}
	}
	if err != nil {
		return wrongResults(results, err)
	}
	if spool != nil {
		source.Path = spool.Path
	}
	if o.outputDir != "" {
		ledger.RemoveTemporary(o.outputDir)
	}
	b.Ledger = ledger
	return newTaskRunner(ctx, std, recipe).run(b, results, batchCommand{options: *o, given: given, tasks: tasks, results: results, displaced: displaced, others: o.others(b.Plan), args: argv})
}

// collection says how much memory is used for garbage, in percent of what is needed. A few megabytes save a tenth of the CPU of a short command;
// for a file with a million tasks it would be many.
func collection(tasks string) (percent int) {
	if info, err := os.Stat(tasks); err == nil && !info.IsDir() && info.Size() > 4<<20 {
		return 20
	}
	return 400
}

// openTasks finds the tasks. What can be read only once is kept in a file beside the results, so that the batch can continue.
func openTasks(ctx context.Context, std stdio.Streams, tasks, results string, format batch.Format) (*batch.FileSource, *batch.Spool, error) {
	if format != "" && !slices.Contains(batch.Formats, string(format)) {
		return nil, nil, command.Usage(message.Error(fmt.Sprintf("%q is not a format; the formats are %s", string(format), strings.Join(batch.Formats, ", "))), "")
	}
	source := &batch.FileSource{Path: tasks, Format: format}
	var spool *batch.Spool
	info, err := os.Stat(tasks)
	switch {
	case tasks == "-":
		source.Shown = "stdin"
		spool, err = batch.ReadSpool(ctx, std.In, results, stdio.IsTerminal(std.In))
	case err == nil && !info.IsDir() && !info.Mode().IsRegular():
		source.Shown = tasks
		spool, err = batch.ReadSpoolFile(ctx, tasks, results)
	}
	if err == nil && spool != nil {
		source.Path = spool.Path
	}
	if err == nil && source.Format == "" {
		source.Format, err = batch.DetectFormat(source.Path)
	}
	if err != nil {
		return nil, spool, command.Usage(message.Error(message.BatchTasksUnreadable(source.Name(), pathless(err)), err), "")
	}
	return source, spool, nil
}
