package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/config"
)

func newRehearse() *cobra.Command {
	var script, scriptFile, dir, reportFile string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rehearse --script SCRIPT [flags] -- command [args…]",
		Short: "Try out a command against stand-ins that fail as a script says",
		Example: `  belay rehearse --script '429(retry-after=2)x2, 200' -- claude -p hi
  belay rehearse --script 'tool(bash: make test), drop-mid, 200' -- codex exec 'fix the tests'
  belay rehearse --script 'usage-limit(resets=3h)' --json -- claude -p hi
  belay rehearse --script 'limit(20/60s)' -- ./my-pipeline.sh`,
		Long: `Starts stand-ins for the APIs of Anthropic, OpenAI and GitHub on loopback, points the command at
them with a key that opens nothing and a home of its own, runs it as belay run would, and reports
on stderr what it asked, when, what it was answered, and what belay made of it. Nothing is
spent, and nobody else is talked to by the agents. The exit code is that of belay run.

A script is a list of steps, one for each request that is part of the work: a status (200, 429,
529 …) or hang, reset, refuse, garbage, slow(2s), tool(bash: …), usage-limit(resets=3h),
overloaded, drop-mid, end-mid, hang-mid, garbage-mid, overloaded-mid, error-mid(code=…), limit(20/60s),
mix(5%, seed=1); of GitHub also lost, primary(resets=2s), secondary(retry-after=2). In parentheses: retry-after, text, in, out, message, body, after … or any
header; x3 repeats, x* for ever. After the script all is answered well. docs/rehearsal.md
has all of it. The flags of belay run are taken too.`,
	}
	given := addSettings(cmd, func(s *config.Setting) bool { return s.Name != "dry-run" })
	f := cmd.Flags()
	f.SetInterspersed(false)
	addText(f, &script, "script", "SCRIPT", "what the stand-ins do; @FILE reads it from a file")
	addText(f, &scriptFile, "script-file", "FILE", "the same, in a file")
	addText(f, &dir, "dir", "DIR", "keep homes, sessions and state there (a temporary directory)")
	f.BoolVar(&asJSON, "json", false, "print the report as JSON on stdout, in place of the command's output")
	addText(f, &reportFile, "report-file", "FILE", "write the report there as JSON")
	cmd.ValidArgsFunction = shellsBusiness
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usage(errors.New("no command given"), "as in: belay rehearse --script '429x2, 200' -- claude -p hi")
		case (script == "") == (scriptFile == ""):
			return usage(errors.New("give either --script or --script-file"), "as in: belay rehearse --script '429x2, 200' -- claude -p hi")
		}
		// The settings were checked when they were parsed; here they are only passed on.
		passed := []string{"--script=" + script, "--script-file=" + scriptFile, "--dir=" + dir, "--report-file=" + reportFile,
			"--result-file=" + given["result-file"]}
		if asJSON {
			passed = append(passed, "--json")
		}
		passed = append(passed, "--")
		for i := range config.Table {
			if value, ok := given[config.Table[i].Name]; ok {
				passed = append(passed, "--"+config.Table[i].Name+"="+value)
			}
		}
		return runCompanion(cmd.Context(), stdioOf(cmd), "rehearse", append(append(passed, "--"), args...)...)
	}
	return cmd
}
