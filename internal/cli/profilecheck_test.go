package cli_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
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
	dir := place(t)
	belay(t, "profile", "list").ends(0).says().prints("claude", "built in")
	belay(t, "profile", "check", "toy").ends(2).prints().says(`there is no profile "toy"`)
	config := home(".config", "belay", "config.toml")
	write(t, config, strings.Replace(ownProfile, "outcomes = \"toy.jsonl\"\n", "", 1), 0o600)
	belay(t, "profile", "list").ends(0).says().prints("toy", "config.toml")
	belay(t, "config", "show").ends(0).says().prints("profile toy")
	belay(t, "profile", "check", "toy").ends(0).says().prints("command", "SIGINT 4s", "Save an outcome with: belay explain --profile toy")
	belay(t, "run", "--dry-run", "--", "toy", "hi").ends(0).prints("profile:   toy\n")
	belay(t, "run", "--dry-run", "--", "toy").ends(0).prints("profile:   generic\n")

	stderr, saved := filepath.Join(dir, "stderr"), home(".config", "belay", "toy.jsonl")
	write(t, stderr, "please slow down\n", 0o600)
	belay(t, "explain", "--exit-code", "1", "--stderr", stderr, "--save", saved, "--", "toy", "hi").ends(0).prints("rate_limit", "limit")
	belay(t, "profile", "check", "toy", saved).ends(0).says().prints("rate_limit", "The verdict is as expected.")
	belay(t, "explain", "--exit-code", "1", "--stderr", stderr, "--save", saved, "--expect", "auth", "--", "toy", "hi").ends(0)
	write(t, config, ownProfile, 0o600)
	belay(t, "profile", "check", "toy").ends(1).says().prints("class rate_limit instead of auth", "Not as expected: 1 of 2 verdicts.")
	var one struct {
		Expected, Got string
		OK            bool
	}
	lines := strings.SplitAfter(belay(t, "profile", "check", "toy", "--json").ends(1).stdout, "\n")
	if err := json.Unmarshal([]byte(lines[1]), &one); err != nil || one.OK || one.Expected != "auth" || one.Got != "rate_limit" {
		t.Errorf("%+v, %v", one, err)
	}
	belay(t, "profile", "check", "claude", saved).ends(2).prints().says("there are no saved outcomes of claude")
	belay(t, "explain", "--exit-code", "1", "--save", saved, "--expect", "sad").ends(2).prints().says("--expect: unknown class")
	write(t, saved, "{\n", 0o600)
	belay(t, "profile", "check", "toy").ends(2).prints().says("toy.jsonl: line 1: ")
}

// A mistake in a profile stops what would use it, with its place; a wrong pattern nothing else.
func TestProfile_Mistake(t *testing.T) {
	place(t)
	config := home(".config", "belay", "config.toml")
	write(t, config, strings.Replace(ownProfile, "words", "word", 1), 0o600)
	for _, args := range [][]string{{"run", "--", "true"}, {"run", "--", "toy", "hi"}, {"profile", "list"}, {"profile", "check", "toy"}, {"config", "show"}} {
		belay(t, args...).ends(2).prints().says("config.toml:5: profile.toy.headless.word: unknown key")
	}
	write(t, config, strings.Replace(ownProfile, "slow down", "(", 1), 0o600)
	belay(t, "run", "--", "true").ends(0)
	for _, args := range [][]string{{"run", "--", "toy", "hi"}, {"profile", "check", "toy"}, {"config", "show"}, {"explain", "--exit-code", "1", "--", "toy", "hi"}} {
		belay(t, args...).ends(2).prints().says("config.toml:6: profile.toy.rule[1]: match: ")
	}
}
