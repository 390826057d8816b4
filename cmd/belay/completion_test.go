//go:build linux

package main

import (
	"os"
	"testing"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/test/must"
)

// bashCompletion is the package that gives bash the completions of other commands.
const bashCompletion = "/usr/share/bash-completion/bash_completion"

// completing are shells that complete belay's command line, with what loads the completions and teaches the shell the options of
// scoop, a command that prints its arguments.
var completing = map[string]struct {
	command []string
	setup   string
	own     bool // the shell completes nothing but belay and the names of commands
}{
	"bash": {[]string{"bash", "--norc", "--noprofile", "-i"}, `bind 'set enable-bracketed-paste off'
source <(belay completion bash)`, true},
	"bash-completion": {[]string{"bash", "--norc", "--noprofile", "-i"}, "source " + bashCompletion + `
bind 'set enable-bracketed-paste off'
complete -W '--vanilla --chocolate' scoop
source <(belay completion bash)`, false},
	"zsh": {[]string{"zsh", "-f", "-i"}, `autoload -U compinit && compinit -u -D
_scoop() { compadd -- --vanilla --chocolate }
compdef _scoop scoop
source <(belay completion zsh)`, false},
	"fish": {[]string{"fish", "--no-config", "-i"}, `complete -c scoop -l vanilla
complete -c scoop -l chocolate
belay completion fish | source`, false},
}

// After belay run a shell completes the command that belay is to run, and what that takes, as if belay were not there; before it,
// belay's own commands, flags and values. What was completed is what runs.
func TestCompletion_InShells(t *testing.T) {
	t.Parallel()
	for name, shell := range completing {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need(t, shell.command[0])
			if _, err := os.Stat(bashCompletion); name == "bash-completion" && err != nil {
				missing(t, "bash-completion is not installed")
			}
			s := newScreen(t, shell.command...)
			s.expect(`[$%#>] `)
			must.OK(t, os.Mkdir(s.path("bin"), 0o700))
			must.OK(t, built.WriteFile(s.path("bin/scoop"), []byte("#!/bin/sh\necho \"scooped [$*]\"\n")))
			s.write("setup", shell.setup+"\n")
			s.send("export PATH=\"$PWD/bin:$PATH\"; . ./setup; echo rea''dy\r")
			s.expect(`ready\r?\n`)
			for _, line := range []struct {
				typed, prints string
				others        bool // it takes a completion that is not belay's
			}{
				{"belay run -- sco\tone", "one", false},
				{"belay run sco\ttwo", "two", false},
				{"belay ru\t--max-ret\t1 --prof\tgene\t-- scoop three", "three", false},
				{"belay run -- scoop --van\tfour", "--vanilla four", true},
				{"belay run --max-retries 1 --timeout=5m --reap scoop --choc\tfive", "--chocolate five", true},
				{"belay run --tag a=b:c -- scoop x --van\tsix", "x --vanilla six", true},
				{"belay rehea\t--script 200 -- scoop --van\tseven", "--vanilla seven", true},
			} {
				if !line.others || !shell.own {
					s.send(line.typed + "\r")
					s.expect(`scooped \[` + line.prints + `\]\r?\n`)
				}
			}
		})
	}
}

// missing skips the test, or fails it where everything has to be there.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}
