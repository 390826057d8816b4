package belay_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/command/commandtest"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
)

func TestVersion(t *testing.T) {
	commandtest.Place(t)
	shown := commandtest.Belay(t, "--version").Ends(0).Says()
	if !strings.HasPrefix(shown.Stdout, "belay 0.") || strings.Count(shown.Stdout, "\n") != 1 {
		t.Errorf("%q", shown.Stdout)
	}
}

// A mistake ends with exit code 2 and one line that says what is wrong and what to type.
func TestUsage(t *testing.T) {
	commandtest.Place(t)
	commandtest.Write(t, "err.txt", "failed", 0o600)
	commandtest.Write(t, "bad.toml", "", 0o600)
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
		got := commandtest.Belay(t, strings.Fields(line)...).Ends(2).Prints().Says("belay: ", want)
		if strings.Count(got.Stderr, "\n") != 1 {
			t.Errorf("belay %s says more than a line: %s", line, got.Stderr)
		}
	}
}

// A hook's client reads exit code 2 as "block", so a mistake in a call ends with 1 unless --fail-closed asks for that.
func TestUsage_OfAHookIsNoDecision(t *testing.T) {
	commandtest.Place(t)
	for line, code := range map[string]int{
		"hook": 1, "hook --": 1, "hook --timeout soon -- x": 1, "hook --nonsense -- x": 1, "hook --fail-closed": 2, "hook --fail-closed --nonsense -- x": 2,
	} {
		commandtest.Belay(t, strings.Fields(line)...).Ends(code).Prints().Says("belay: ")
	}
	commandtest.Belay(t, "hook", "guard.py").Ends(1).Says(`there is no command "guard.py"; to run it as a hook: belay hook -- guard.py`)
	commandtest.Belay(t, "hook", "instal").Ends(1).Says(`did you mean: belay hook install`)
}
