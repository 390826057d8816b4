package completion

import (
	"bytes"
	_ "embed"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
)

// What cobra's scripts cannot do: complete the command that belay is to run as the shell would without belay.
var (
	//go:embed shell/belay.bash
	bashScript string
	//go:embed shell/belay.zsh
	zshScript string
	//go:embed shell/belay.fish
	fishScript string
)

// running are the commands that another command follows, after -- or where nothing else can be meant.
var running = []string{"run", "rehearse", "mcp", "hook", "explain"}

// New makes belay completion.
func New() *cobra.Command {
	cmd := &cobra.Command{Use: "completion SHELL", Short: "Print a script that completes belay's command line", DisableFlagsInUseLine: true,
		Example: `Complete belay in this bash:
  source <(belay completion bash)
Complete belay in every bash from now on:
  belay completion bash > ~/.local/share/bash-completion/completions/belay`,
		Long: `Prints a completion script for a shell. Commands, flags and their values are completed, and after belay run the command that belay is to run, as if belay
were not there. Packages and install.sh install the scripts for bash, zsh and fish.`,
		Args: command.NoArgs, RunE: command.OnlyHelp}
	for _, s := range []struct{ name, example string }{
		{"bash", `Complete belay in this shell:
  source <(belay completion bash)
Complete belay in every shell from now on:
  belay completion bash > ~/.local/share/bash-completion/completions/belay`},
		{"zsh", `Complete belay in this shell:
  source <(belay completion zsh)
Complete belay in every shell from now on:
  belay completion zsh > "${fpath[1]}/_belay"`},
		{"fish", `Complete belay in this shell:
  belay completion fish | source
Complete belay in every shell from now on:
  belay completion fish > ~/.config/fish/completions/belay.fish`},
		{"powershell", `Complete belay in this shell:
  belay completion powershell | Out-String | Invoke-Expression`},
	} {
		plain := false
		c := &cobra.Command{Use: s.name, Short: "Print the completion script for " + s.name, Example: s.example, Args: command.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				script, err := completionScript(cmd.Root(), s.name, !plain)
				if err == nil {
					_, err = io.WriteString(cmd.OutOrStdout(), script)
				}
				return command.Fail(err)
			}}
		c.Flags().BoolVar(&plain, "no-descriptions", false, "complete without descriptions")
		cmd.AddCommand(c)
	}
	return cmd
}

// completionScript is cobra's script for a shell, with ours around it.
func completionScript(root *cobra.Command, shell string, describe bool) (string, error) {
	var b bytes.Buffer
	var err error
	switch {
	case shell == "bash":
		err = root.GenBashCompletionV2(&b, describe)
	case shell == "fish":
		err = root.GenFishCompletion(&b, describe)
	case shell == "zsh" && describe:
		err = root.GenZshCompletion(&b)
	case shell == "zsh":
		err = root.GenZshCompletionNoDesc(&b)
	case describe:
		err = root.GenPowerShellCompletionWithDesc(&b)
	default:
		err = root.GenPowerShellCompletion(&b)
	}
	if err != nil {
		return "", err
	}
	script := b.String()
	own := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[shell]
	own = strings.NewReplacer("@COMMANDS@", strings.Join(running, "|"), "@VALUED@", strings.Join(valued(root), "|")).Replace(own)
	if shell != "zsh" {
		return script + own, nil
	}
	// zsh loads the function of that name from a file, and runs the file. So ours has the name, and cobra's another.
	before, after, found := strings.Cut(script, "\n_belay()\n")
	body, end, ended := strings.Cut(after, "\n# don't run the completion function when being source-ed")
	if !found || !ended {
		return "", message.Error("cobra's script for zsh has changed; please report this")
	}
	return before + "\n__belay_own()\n" + body + "\n" + own + "\n# don't run the completion function when being source-ed" + end, nil
}

// valued are the flags of these commands that take a value as the next word.
func valued(root *cobra.Command) (names []string) {
	for _, name := range running {
		cmd, _, err := root.Find([]string{name})
		if err != nil {
			continue
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal == "" && f.Value.Type() != "bool" && !slices.Contains(names, "--"+f.Name) {
				names = append(names, "--"+f.Name)
			}
		})
	}
	return names
}
