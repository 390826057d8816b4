// Package explain is belay explain: the verdict on a saved outcome.
package explain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/internal/actions"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/outcome"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/setup"
	"github.com/belay-run/belay/internal/signame"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/verdict"
)

type explainOptions struct {
	profile        string
	exitCode       string
	signal         string
	stdout, stderr string
	save, expect   string
	json           bool
}

// New makes belay explain.
func New() *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain [RUN | flags [-- command args…]]",
		Short: "Explain how a run ended, or a saved outcome",
		Example: `Explain the last run, or another one:
  belay explain last
  belay explain 1f0c9a3e
Explain why claude failed:
  belay explain --exit-code 1 --stdout out.txt --stderr err.txt -- claude -p hi
See whether a flag would have a failure retried:
  belay explain --exit-code 7 --stderr err.txt --retry-on 429 -- curl -sSf x
Explain a signal:
  belay explain --signal KILL
Save an outcome with the class it should have, for belay profile check:
  belay explain --exit-code 1 --stderr err --save a.jsonl --expect auth -- qwen`,
		Long: `Prints the verdict on a run (its id, the beginning or end of it, or last), or the one that Belay would reach on a saved outcome: the class, whether a retry makes
sense, when to come back, and the rule and the line that decided. It needs no network. For commands other than agents and gh, nothing is retried unless a flag says so,
just as with belay run.

For the classes, see belay help verdicts.`,
	}
	f := cmd.Flags()
	command.AddText(f, &o.profile, "profile", "NAME", "treat the command as "+profile.Or(profile.Names())+" (default: by its name)")
	command.AddText(f, &o.exitCode, "exit-code", "N", "the exit code, as a shell shows it")
	command.AddText(f, &o.signal, "signal", "SIG", "the signal that ended it: KILL, SIGKILL or 9")
	command.AddText(f, &o.stdout, "stdout", "FILE", "what the command wrote to stdout; - reads it from stdin")
	command.AddText(f, &o.stderr, "stderr", "FILE", "what the command wrote to stderr; - reads it from stdin")
	command.AddText(f, &o.save, "save", "FILE", "add the outcome to FILE, for belay profile check")
	command.AddText(f, &o.expect, "expect", "CLASS", "the class that a saved outcome should have (default: the one found)")
	f.BoolVar(&o.json, "json", false, "print JSON")
	judging := map[string]bool{"max-retries": true, "retry-on-exit": true, "retry-on": true, "fail-on": true}
	given := command.AddSettings(cmd, func(s *config.Setting) bool { return judging[s.Name] })
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		code, sig := cmd.Flags().Changed("exit-code"), o.signal != ""
		if len(args) == 1 && cmd.ArgsLenAtDash() < 0 && !code && !sig {
			return explainRun(cmd, args[0], o.json)
		}
		if code == sig {
			return command.Usage(message.Error("give either --exit-code or --signal"), message.AsIn("belay explain --exit-code 1 --stderr err.txt"))
		}
		if o.stdout == "-" && o.stderr == "-" {
			return command.Usage(message.Error("only one of --stdout and --stderr can be read from stdin"), message.AsIn("--stdout out.txt --stderr -"))
		}
		if _, err := verdict.ParseClass(o.expect); o.expect != "" && err != nil {
			return command.Usage(fmt.Errorf("--expect: %w", err), "")
		}
		return explain(cmd, o, given, args)
	}
	return cmd
}

// explainRun has belayd explain a run that is on record. No other flag says anything about one.
func explainRun(cmd *cobra.Command, run string, asJSON bool) (err error) {
	passed := []string{"--explain"}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "json" {
			err = command.Usage(message.Error(message.NotTogether("--"+f.Name, "RUN")), "")
		}
	})
	if asJSON {
		passed = append(passed, "--json")
	}
	if err != nil {
		return err
	}
	return command.HandOver(cmd.Context(), command.Streams(cmd), "log", append(passed, "--", run)...)
}

func explain(cmd *cobra.Command, o explainOptions, given config.Given, argv []string) error {
	if o.profile == "" && len(argv) == 0 {
		o.profile = generic.Name
	}
	judge, known, err := setup.Judge(command.Streams(cmd), given, o.profile, argv)
	if err != nil {
		return err
	}
	result := verdict.Outcome{Argv: argv}
	if o.signal == "" {
		if result.ExitCode, err = exitCodeIn(o.exitCode); err != nil {
			return command.Usage(fmt.Errorf("--exit-code: %w", err), "")
		}
	}
	if o.signal != "" {
		result.ExitCode = -1
		if result.Signal, err = signame.Parse(o.signal); err != nil {
			return command.Usage(err, "")
		}
	}
	for _, stream := range []struct {
		path string
		into *verdict.Excerpt
	}{{o.stdout, &result.Stdout}, {o.stderr, &result.Stderr}} {
		if stream.path == "" {
			continue
		}
		if *stream.into, err = readExcerpt(cmd.InOrStdin(), stream.path, known); err != nil {
			return command.Usage(err, "")
		}
	}
	v := judge(result)
	if o.save != "" {
		saved := outcome.New(setup.NameOf(known), result, v, verdict.Class(o.expect))
		line, err := json.Marshal(saved)
		if err == nil {
			err = actions.AppendTo(o.save, redact.Text(string(line))+"\n")
		}
		if err != nil {
			return command.Usage(err, "")
		}
	}
	w := cmd.OutOrStdout()
	if o.json {
		return term.JSON(w, v)
	}
	term.Printf(w, "class:     %s\nretryable: %v\n", v.Class, v.Retryable)
	if !v.Hint.IsZero() {
		term.Line(w, "come back: in "+printable.Span(v.Hint.Wait(time.Now()).Round(time.Second)))
	}
	term.Printf(w, "rule:      %s\n", v.Rule)
	heading := "evidence:"
	for line := range strings.Lines(v.Evidence) {
		term.Printf(w, "%-10s %s\n", heading, line)
		heading = ""
	}
	return nil
}

// exitCodeIn reads an exit code. Those of Windows have 32 bits.
func exitCodeIn(text string) (int, error) {
	most := 255
	if runtime.GOOS == "windows" {
		most = math.MaxUint32
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return 0, message.Error(message.NotAnExitCode(text, 0, most))
	}
	return n, nil
}

// maxEvents is how much of an agent's events is read in one piece, long lines abridged.
const maxEvents = 32 << 20

// readExcerpt reads what a verdict reads of a file, however large that is. Events must not be cut in the middle.
func readExcerpt(in io.Reader, path string, known agent.Profile) (verdict.Excerpt, error) {
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return verdict.Excerpt{}, err
		}
		defer f.Close()
		in = f
	}
	var size int64
	var regular bool
	file, ok := in.(*os.File)
	if ok {
		info, err := file.Stat()
		if err != nil {
			return verdict.Excerpt{}, err
		}
		size, regular = info.Size(), info.Mode().IsRegular()
	}
	if known != nil {
		data := limitedBuffer{room: maxEvents}
		read := func(w io.Writer, r io.Reader) error { _, err := io.Copy(w, r); return err }
		if _, ok := known.(agent.Agent); ok {
			read = agent.Abridge
		}
		if err := read(&data, in); err != nil {
			return verdict.Excerpt{}, err
		}
		if !data.full || !regular {
			return verdict.Excerpt{Head: data.Bytes(), Size: int64(data.Len())}, nil
		}
	}
	if regular {
		return outcome.ReadExcerpt(file, size)
	}
	c := verdict.NewCapture(verdict.DefaultHead, verdict.DefaultTail)
	if _, err := io.Copy(c, in); err != nil {
		return verdict.Excerpt{}, err
	}
	return c.Excerpt(), nil
}

// limitedBuffer drops what is more than it has room for.
type limitedBuffer struct {
	bytes.Buffer
	room int
	full bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	n := min(len(p), b.room)
	b.room -= n
	b.full = b.full || n < len(p)
	b.Buffer.Write(p[:n])
	return len(p), nil
}
