package profile_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/command/commandtest"
)

const ownProfile = `[profile.toy]
command = "toy"
outcomes = "toy.jsonl"
[profile.toy.headless]
words = true
[[profile.toy.rule]]
name = "limit"
class = "rate_limit"
match = "slow down"
`

// A profile of the user's file is listed, shown where others are, and held against saved outcomes.
func TestProfile_Own(t *testing.T) {
	dir := commandtest.Place(t)
	commandtest.Belay(t, "profile", "list").Ends(0).Says().Prints("claude", "built in")
	commandtest.Belay(t, "profile", "check", "toy").Ends(2).Prints().Says(`there is no profile "toy"`)
	config := commandtest.Home(".config", "belay", "config.toml")
	commandtest.Write(t, config, strings.Replace(ownProfile, "outcomes = \"toy.jsonl\"\n", "", 1), 0o600)
	commandtest.Belay(t, "profile", "list").Ends(0).Says().Prints("toy", "config.toml")
	commandtest.Belay(t, "config", "show").Ends(0).Says().Prints("profile toy")
	commandtest.Belay(t, "profile", "check", "toy").Ends(0).Says().Prints("command", "SIGINT 4s", "Save an outcome with: belay explain --profile toy")
	commandtest.Belay(t, "run", "--dry-run", "--", "toy", "hi").Ends(0).Prints("profile:   toy\n")
	commandtest.Belay(t, "run", "--dry-run", "--", "toy").Ends(0).Prints("profile:   generic\n")

	stderr, saved := filepath.Join(dir, "stderr"), commandtest.Home(".config", "belay", "toy.jsonl")
	commandtest.Write(t, stderr, "please slow down\n", 0o600)
	commandtest.Belay(t, "explain", "--exit-code", "1", "--stderr", stderr, "--save", saved, "--", "toy", "hi").Ends(0).Prints("rate_limit", "limit")
	commandtest.Belay(t, "profile", "check", "toy", saved).Ends(0).Says().Prints("rate_limit", "The verdict is as expected.")
	commandtest.Belay(t, "explain", "--exit-code", "1", "--stderr", stderr, "--save", saved, "--expect", "auth", "--", "toy", "hi").Ends(0)
	commandtest.Write(t, config, ownProfile, 0o600)
	commandtest.Belay(t, "profile", "check", "toy").Ends(1).Says().Prints("class rate_limit instead of auth", "Not as expected: 1 of 2 verdicts.")
	var one struct {
		Expected, Got string
		OK            bool
	}
	lines := strings.SplitAfter(commandtest.Belay(t, "profile", "check", "toy", "--json").Ends(1).Stdout, "\n")
	if err := json.Unmarshal([]byte(lines[1]), &one); err != nil || one.OK || one.Expected != "auth" || one.Got != "rate_limit" {
		t.Errorf("%+v, %v", one, err)
	}
	commandtest.Belay(t, "profile", "check", "claude", saved).Ends(2).Prints().Says("there are no saved outcomes of claude")
	commandtest.Belay(t, "explain", "--exit-code", "1", "--save", saved, "--expect", "sad").Ends(2).Prints().Says("--expect: unknown class")
	commandtest.Write(t, saved, "{\n", 0o600)
	commandtest.Belay(t, "profile", "check", "toy").Ends(2).Prints().Says("toy.jsonl: line 1: ")
}

// A mistake in a profile stops what would use it, with its place, and nothing else.
func TestProfile_Mistake(t *testing.T) {
	commandtest.Place(t)
	config := commandtest.Home(".config", "belay", "config.toml")
	commandtest.Write(t, config, strings.Replace(ownProfile, "words", "word", 1), 0o600)
	commandtest.Belay(t, "run", "--", "true").Ends(0).Says("config.toml:5: profile.toy.headless.word is ignored: unknown key; did you mean words?")
	for _, args := range [][]string{{"run", "--", "toy", "hi"}, {"profile", "check", "toy"}, {"config", "show"}} {
		commandtest.Belay(t, args...).Ends(2).Prints().Says("config.toml:5: profile.toy.headless.word: unknown key")
	}
	commandtest.Write(t, config, strings.Replace(ownProfile, "slow down", "(", 1), 0o600)
	commandtest.Belay(t, "run", "--", "true").Ends(0)
	for _, args := range [][]string{{"run", "--", "toy", "hi"}, {"profile", "check", "toy"}, {"config", "show"}, {"explain", "--exit-code", "1", "--", "toy", "hi"}} {
		commandtest.Belay(t, args...).Ends(2).Prints().Says("config.toml:6: profile.toy.rule[1]: match: ")
	}
}
