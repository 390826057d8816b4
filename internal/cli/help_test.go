package cli_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/internal/cli"
)

// everyCommand visits the commands of the tree that people can call, with their arguments.
func everyCommand(visit func(cmd *cobra.Command, path []string)) {
	var each func(*cobra.Command, []string)
	each = func(cmd *cobra.Command, path []string) {
		visit(cmd, path)
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() && c.Name() != "help" {
				each(c, append(path[:len(path):len(path)], c.Name()))
			}
		}
	}
	each(cli.New(), nil)
}

// Help shows before it explains: it opens with an example that can be typed, and names every flag. `belay help X` says the same.
func TestHelp_OfEveryCommand(t *testing.T) {
	place(t)
	n := 0
	everyCommand(func(cmd *cobra.Command, path []string) {
		n++
		shown := belay(t, append(path, "--help")...).ends(0).says()
		if cmd.Example != "" && !strings.HasPrefix(shown.stdout, cmd.Example+"\n\n") {
			t.Errorf("%q does not begin with examples: %.200s", path, shown.stdout)
		}
		shown.prints("\nUsage:\n  " + strings.Join(append([]string{"belay"}, path...), " "))
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			switch {
			case f.Hidden:
			case f.Shorthand == f.Name:
				shown.prints("\n  -"+f.Name+" ", f.Usage)
			default:
				shown.prints("--"+f.Name, f.Usage)
			}
		})
		asked := belay(t, append([]string{"help"}, path...)...).ends(0).says()
		if text, _, _ := strings.Cut(shown.stdout, "\nUsage:"); !strings.HasPrefix(asked.stdout, text+"\nUsage:") {
			t.Errorf("belay help %q says\n%s", path, asked.stdout)
		}
	})
	if n < 25 {
		t.Errorf("only %d commands were found", n)
	}
}

func TestHelp_WithoutArguments(t *testing.T) {
	place(t)
	for _, args := range [][]string{{}, {"help"}, {"config"}, {"completion"}} {
		belay(t, args...).ends(0).says().prints("COMMAND --help says more of each.")
	}
}

func TestVersion(t *testing.T) {
	place(t)
	shown := belay(t, "--version").ends(0).says()
	if !strings.HasPrefix(shown.stdout, "belay 0.") || strings.Count(shown.stdout, "\n") != 1 {
		t.Errorf("%q", shown.stdout)
	}
}

// A mistake ends with exit code 2 and one line that says what is wrong and what to type.
func TestUsage(t *testing.T) {
	place(t)
	write(t, "err.txt", "failed", 0o600)
	write(t, "bad.toml", "", 0o600)
	for line, want := range map[string]string{
		"nonsense":                    `there is no command "nonsense"; see: belay --help; to run a program: belay run -- nonsense`,
		"lgo":                         `there is no command "lgo"; did you mean: belay log`,
		"version":                     `there is no command "version"; did you mean: belay --version`,
		"help lgo":                    `there is no command "lgo"; did you mean: belay log`,
		"help gates opne":             `did you mean: belay gates open`,
		"--nonsense":                  `unknown flag: --nonsense; see: belay --help`,
		"run":                         `no command given; as in: belay run -- make test`,
		"run --":                      `no command given`,
		"run --max-retires 3 -- x":    `unknown flag: --max-retires; did you mean --max-retries? see: belay run --help`,
		"run --max-retries many -- x": `"many"`,
		"run --timeout -1 -- x":       `--timeout`,
		"run --profile nope -- x":     `there is no profile "nope"; there are claude, codex, gh and generic`,
		"run --max-parallel 2 -- x":   `--max-parallel needs a gate to count in; add: --gate NAME`,
		"run --resume last -- x":      `only agents have sessions that can be resumed`,
		"run --resume a --resume-or-new b -- claude -p x": `--resume and --resume-or-new exclude each other`,
		"run --prompt a --prompt-file b -- x":             `--prompt and --prompt-file exclude each other`,
		"run --prompt-file missing.txt -- x":              `the prompt file cannot be read`,
		"run --result-file . -- x":                        `--result-file: . is a directory`,
		"run --result-file no/such/file -- x":             `--result-file: there is no directory no/such`,
		"run --retry-on ( -- x":                           `--retry-on`,
		"run --output-format yaml -- x":                   `--output-format`,
		"ps all":                                          `belay ps takes no arguments, but there is "all"; see: belay ps --help`,
		"cancel":                                          `no run is named; as in: belay cancel 1f0c9a3e`,
		"cancel 1f0c9a3e":                                 `no run has the id "1f0c9a3e"; see: belay ps`,
		"gates rest":                                      `there is no command "rest" of belay gates; did you mean: belay gates reset`,
		"gates qqqq":                                      `there is belay gates hold, open, reset, watch`,
		"gates reset":                                     `name the gates, or say --all; see: belay gates`,
		"gates hold":                                      `no gate is named; as in: belay gates hold api --until 30m`,
		"gates hold api":                                  `--until is missing; as in: belay gates hold api --until 30m`,
		"gates hold a b --until 1m":                       `belay gates hold takes one gate, not 2`,
		"gates hold api --until soon":                     `--until: "soon" is neither a duration (30m) nor a time to come`,
		"gates hold api --until 2020-01-01T00:00:00Z":     `2020-01-01T00:00:00Z has passed`,
		"gates open api --until never":                    `--until: "never"`,
		"config nope":                                     `there is no command "nope" of belay config`,
		"config show --profile nope":                      `nope`,
		"explain":                                         `give either --exit-code or --signal`,
		"explain --exit-code 1 --signal KILL":             `give either --exit-code or --signal`,
		"explain --exit-code 300":                         `--exit-code: "300" is not an exit code from 0 to 255`,
		"explain --exit-code one":                         `--exit-code: "one" is not an exit code from 0 to 255`,
		"explain --signal SIGNONSENSE":                    `SIGNONSENSE`,
		"explain --exit-code 1 --stderr missing.txt":      `missing.txt`,
		"explain --exit-code 1 --stdout - --stderr -":     `only one of --stdout and --stderr can be read from stdin`,
		"explain --exit-code 1 --profile nope":            `there is no profile "nope"`,
		"mcp":                                             `no server given; as in: belay mcp -- npx`,
		"mcp instal":                                      `did you mean: belay mcp install`,
		"mcp --timeout soon -- x":                         `--timeout "soon"`,
		"mcp --tool-timeout 5m -- x":                      `--tool-timeout "5m": want the name of a tool and a duration`,
		"mcp --max-message 0 -- x":                        `--max-message "0": want a number of MiB between 1 and 4096`,
		"mcp install":                                     `--client is missing; as in: --client claude or --client codex`,
		"mcp install --client emacs":                      `--client "emacs" is not known: claude or codex`,
		"mcp install --client codex --scope local":        `--scope "local" is none of codex`,
		"mcp status extra":                                `belay mcp status takes no arguments`,
		"hook install":                                    `say whose hooks are meant; as in: --client claude`,
		"hook install --client emacs":                     `there is no client "emacs"; one of: --client claude, --client codex`,
		"hook install --client codex --scope local":       `as in: --scope user`,
		"hook status --client emacs":                      `there is no client "emacs"`,
		"hook status extra":                               `belay hook status takes no arguments`,
		"rehearse -- x":                                   `give either --script or --script-file`,
		"rehearse --script 200":                           `no command given; as in: belay rehearse --script`,
		"log a b":                                         `belay log takes one run, not 2`,
		"stats extra":                                     `belay stats takes no arguments`,
		"log --since":                                     `flag needs an argument: --since; see: belay log --help`,
		"demo please":                                     `belay demo takes no arguments`,
		"completion tcsh":                                 `there is no command "tcsh" of belay completion`,
	} {
		got := belay(t, strings.Fields(line)...).ends(2).prints().says("belay: ", want)
		if strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("belay %s says more than a line: %s", line, got.stderr)
		}
	}
}

// A hook's client reads exit code 2 as "block", so a mistake in a call ends with 1 unless --fail-closed asks for that.
func TestUsage_OfAHookIsNoDecision(t *testing.T) {
	place(t)
	for line, code := range map[string]int{
		"hook": 1, "hook --": 1, "hook --timeout soon -- x": 1, "hook --nonsense -- x": 1, "hook --fail-closed": 2, "hook --fail-closed --nonsense -- x": 2,
	} {
		belay(t, strings.Fields(line)...).ends(code).prints().says("belay: ")
	}
	belay(t, "hook", "guard.py").ends(1).says(`there is no command "guard.py"; to run it as a hook: belay hook -- guard.py`)
	belay(t, "hook", "instal").ends(1).says(`did you mean: belay hook install`)
}

// What a shell offers.
func TestCompletion(t *testing.T) {
	place(t)
	for line, want := range map[string][]string{
		"log --class|":          {"failed\n", "rate_limit\n"},
		"stats --by|":           {"day\nprofile\nmodel\nclass\nname\nproject\n:4"},
		"events --category|":    {"integration\nhook\nmcp\n:4"},
		"sessions --status|":    {"running\n", "abandoned\n"},
		"audit --action|":       {"gate_reset\n"},
		"log --since|":          {"24h\n", "yesterday\n"},
		"log --profile|":        {"claude\n", "codex\n", "gh\n"},
		"run --profile|":        {"claude\n"},
		"run --preset|":         {":4"},
		"run --output-format|":  {"text\njson\n:4"},
		"run --cwd|":            {":16"}, // directories
		"run --prompt-file|":    {":0"},  // files
		"rehearse --dir|":       {":16"},
		"run --scope|":          {":4"},
		"explain --signal|":     {"KILL\n"},
		"mcp install --client|": {"claude\ncodex\n:4"},
		"gates|":                {"hold\t", "reset\t"},
		"run --|":               {":0"},
		"log|":                  {":4"},
		"cancel|":               {":4"},
	} {
		args := append([]string{"__complete"}, strings.Fields(strings.TrimSuffix(line, "|"))...)
		belay(t, append(args, "")...).ends(0).prints(want...)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		belay(t, "completion", shell).ends(0).says().prints("__complete")
	}
}
