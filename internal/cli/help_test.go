package cli_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/internal/cli"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/verdict"
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

// Help shows before it explains: it opens with labelled examples that can be typed, and names every flag. No line is too long for a
// terminal of 80 columns. `belay help X` says the same.
func TestHelp_OfEveryCommand(t *testing.T) {
	place(t)
	n := 0
	everyCommand(func(cmd *cobra.Command, path []string) {
		n++
		shown := belay(t, append(path, "--help")...).ends(0).says()
		checkHelp(t, strings.Join(path, " "), shown.stdout)
		shown.prints("\nUsage:\n  " + strings.Join(append([]string{"belay"}, path...), " "))
		words := strings.Join(strings.Fields(shown.stdout), " ")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			name := "--" + f.Name
			if f.Shorthand == f.Name {
				name = "-" + f.Name
			}
			if f.Value.Type() != "bool" {
				name += strings.Replace(" "+f.Value.Type(), " [", "[", 1)
			}
			if !f.Hidden && !strings.Contains(words, name+" "+strings.Join(strings.Fields(f.Usage), " ")) {
				t.Errorf("the help of %q lacks %s: %s", path, name, f.Usage)
			}
		})
		if asked := belay(t, append([]string{"help"}, path...)...).ends(0).says(); asked.stdout != shown.stdout {
			t.Errorf("belay help %q says\n%s", path, asked.stdout)
		}
	})
	if n < 25 {
		t.Errorf("only %d commands were found", n)
	}
}

// checkHelp checks what holds for all help.
func checkHelp(t *testing.T, of, text string) {
	t.Helper()
	examples, _, _ := strings.Cut(text, "\n\n")
	typed := regexp.MustCompile(`^  (\w+=\w+ )?(belay|export|source <\(belay) ?`)
	labelled := false
	for i, line := range strings.Split(examples, "\n") {
		isLabel := !strings.HasPrefix(line, " ") && strings.HasSuffix(line, ":")
		if isLabel == labelled && (isLabel || i == 0) || !isLabel && !typed.MatchString(line) {
			t.Errorf("the help of %q does not open with labelled examples: %s", of, line)
		}
		labelled = isLabel
	}
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("a line in the help of %q has %d characters: %s", of, n, line)
		}
	}
}

// belay help explains topics too, and lists them.
func TestHelp_Topics(t *testing.T) {
	place(t)
	for name, want := range map[string]string{
		"verdicts": "rate_limit ", "classes": "rate_limit ", "exit-codes": "75 ", "exit codes": "75 ", "gates": "A gate has four parts", "gate": "A gate has four parts",
		"config": "BELAY_MAX_RETRIES=3", "environment": "BELAY_STATE_DIR ", "env": "CLAUDE_LOG_DIR ",
	} {
		shown := belay(t, append([]string{"help"}, strings.Fields(name)...)...).ends(0).says().prints(want)
		checkHelp(t, name, shown.stdout)
	}
	list := belay(t, "help").ends(0)
	for _, topic := range []string{"verdicts", "gates", "exit-codes", "config", "environment"} {
		list.prints("\n  " + topic + " ")
	}
	for _, class := range verdict.Classes() {
		belay(t, "help", "verdicts").prints("\n  " + string(class) + " ")
	}
	belay(t, "__complete", "help", "").ends(0).prints("exit-codes\t", "run\t")
	belay(t, "__complete", "help", "gates", "").ends(0).prints("reset\t")
}

func TestHelp_WithoutArguments(t *testing.T) {
	place(t)
	for _, args := range [][]string{{}, {"help"}, {"config"}, {"completion"}} {
		belay(t, args...).ends(0).says().prints("\nFor more, run: belay", " COMMAND --help")
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
		"nonsense":                    `there is no command "nonsense"; see: belay --help`,
		"lgo":                         `there is no command "lgo"; did you mean: belay log`,
		"stat":                        `there is no command "stat"; did you mean belay stats? To run the program: belay run -- stat`,
		"rehea":                       `there is no command "rehea"; did you mean: belay rehearse`,
		"help exti-codes":             `there is no command or topic "exti-codes"; did you mean: belay help exit-codes`,
		"run --retries 3 -- x":        `unknown flag: --retries; did you mean --max-retries? see: belay run --help`,
		"run --break 3 -- x":          `did you mean --breaker-failures, --breaker-open, --breaker-successes? see: belay run --help`,
		"version":                     `there is no command "version"; did you mean: belay --version`,
		"help lgo":                    `there is no command or topic "lgo"; did you mean: belay help log`,
		"help gates opne":             `did you mean: belay gates open`,
		"--nonsense":                  `unknown flag: --nonsense; see: belay --help`,
		"run":                         `no command given; as in: belay run -- make test`,
		"run --":                      `no command given`,
		"run --max-retires 3 -- x":    `unknown flag: --max-retires; did you mean --max-retries? see: belay run --help`,
		"run --max-retries many -- x": `"many"`,
		"run --timeout -1 -- x":       `--timeout`,
		"run --profile nope -- x":     `there is no profile "nope"; there are ` + message.And(profile.Names()),
		"run --max-parallel 2 -- x":   `--max-parallel needs a gate; add: --gate NAME`,
		"run --resume last -- x":      `only agents have sessions that can be resumed`,
		"run --resume-interrupted last -- claude -p x":    `--resume-interrupted needs the id of a session`,
		"run --resume a --resume-or-new b -- claude -p x": `--resume and --resume-or-new cannot be used together`,
		"run --prompt a --prompt-file b -- x":             `--prompt and --prompt-file cannot be used together`,
		"run --prompt-file missing.txt -- x":              `cannot read the prompt file`,
		"run --result-file . -- x":                        `--result-file: . is a directory`,
		"run --result-file no/such/file -- x":             `--result-file: directory no/such does not exist`,
		"run --retry-on ( -- x":                           `--retry-on`,
		"run --output-format yaml -- x":                   `--output-format`,
		"ps all":                                          `belay ps takes no arguments, but got "all"; see: belay ps --help`,
		"cancel":                                          `no run given; as in: belay cancel 1f0c9a3e`,
		"cancel 1f0c9a3e":                                 `no run has the id "1f0c9a3e"; see: belay ps`,
		"gates rest":                                      `belay gates has no command "rest"; did you mean: belay gates reset`,
		"gates qqqq":                                      `the commands are hold, open, reset and watch`,
		"gates reset":                                     `name the gates, or use --all; see: belay gates`,
		"gates hold":                                      `no gate given; as in: belay gates hold api --until 30m`,
		"gates hold api":                                  `--until is missing; as in: belay gates hold api --until 30m`,
		"gates hold a b --until 1m":                       `belay gates hold takes one gate, not 2`,
		"gates hold api --until soon":                     `--until: "soon" is not a duration (30m) or a future time`,
		"gates hold api --until 2020-01-01T00:00:00Z":     `2020-01-01T00:00:00Z is in the past`,
		"gates open api --until never":                    `--until: "never"`,
		"config nope":                                     `belay config has no command "nope"`,
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
		"mcp --tool-timeout 5m -- x":                      `--tool-timeout "5m" is not NAME=DURATION`,
		"mcp --call-retries -1 -- x":                      `--call-retries: "-1" is not a number between 0 and 100`,
		"mcp --max-message 0 -- x":                        `--max-message "0" is not a number of MiB between 1 and 4096`,
		"mcp install":                                     `--client is missing; as in: --client claude, --client codex, --client gemini, --client opencode, --client cursor or --client vscode`,
		"mcp install --client emacs":                      `there is no client "emacs"; as in: --client claude, --client codex, --client gemini, --client opencode, --client cursor or --client vscode`,
		"mcp install --client codex --scope local":        `codex has no scope "local"`,
		"mcp status extra":                                `belay mcp status takes no arguments`,
		"hook install":                                    `--client is missing; as in: --client claude, --client codex, --client gemini or --client cursor`,
		"hook install --client emacs":                     `there is no client "emacs"; as in: --client claude, --client codex, --client gemini or --client cursor`,
		"hook install --client codex --scope local":       `use --scope user`,
		"hook status --client emacs":                      `there is no client "emacs"`,
		"hook status extra":                               `belay hook status takes no arguments`,
		"rehearse -- x":                                   `give either --script or --script-file`,
		"rehearse --script 200":                           `no command given; as in: belay rehearse --script`,
		"log a b":                                         `belay log takes one run, not 2`,
		"stats extra":                                     `belay stats takes no arguments`,
		"log --since":                                     `flag needs an argument: --since; see: belay log --help`,
		"demo please":                                     `belay demo takes no arguments`,
		"completion tcsh":                                 `belay completion has no command "tcsh"`,
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
		"stats --by|":           {"day\nprofile\nmodel\nclass\nname\nproject\nmachine\n:4"},
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
		"mcp install --client|": {"claude\ncodex\ngemini\nopencode\ncursor\nvscode\n:4"},
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
