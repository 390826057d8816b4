package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/test/must"
)

// What an agent was asked is known to what keeps it off the record, whichever CLI it is and however it was given: as an argument, also
// behind an option that no profile knows, as the value of one, beside the command line, and when the CLI is run as a plain command.
func TestInvocation_PromptIsKnown(t *testing.T) {
	const prompt, word = "Tell Initech that the merger with Hooli is off", "Schneeflocke"
	const system = "You are the assistant of the board of Initech"
	lines := map[string][][]string{
		"claude":   {{"claude", "-p", "--no-such-option", prompt}, {"claude", prompt}, {"claude", "-p", "--append-system-prompt", system, word}, {"claude", "-p", word}, {"claude", "-p", "--append-system-prompt=" + system, word}},
		"codex":    {{"codex", "exec", "--json", prompt}, {"codex", "exec", "-m", "gpt-5", word}, {"codex", "exec", "resume", "--last", prompt}, {"codex", "exec", "review", prompt}, {"codex", "exec", "--no-such-option", prompt}, {"codex", prompt}},
		"gemini":   {{"gemini", "--prompt=" + prompt}, {"gemini", prompt}, {"gemini", "-p", word}, {"gemini", "-i", prompt}, {"gemini", "--no-such-option", "-p", prompt}},
		"opencode": {{"opencode", "run", word}, {"opencode", "run", "--no-such-option", prompt}, {"opencode", "--prompt", prompt}},
	}
	for _, name := range profile.Agents() {
		ask := strings.Fields(profile.Find(name).Headless())
		for _, args := range append([][]string{slices.Concat(ask, []string{prompt})}, lines[name]...) {
			p, err := profile.Bind(name, args, nil, "")
			must.OK(t, err)
			for _, r := range []*engine.Runner{{Profile: p}, {}} {
				if r.Profile == nil && args[len(args)-1] == word {
					continue // to which any word is a word
				}
				inv, err := r.Prepare(t.Context(), belaytype.Command{Args: args})
				must.OK(t, err)
				notOnRecord(t, strings.Join(args, " "), inv, prompt, word, system, args)
			}
		}
		p, _ := profile.Bind(name, ask, nil, "")
		beside := prompt
		inv, err := (&engine.Runner{Profile: p}).Prepare(t.Context(), belaytype.Command{Args: ask, Prompt: &beside})
		must.OK(t, err)
		notOnRecord(t, name+", beside", inv, prompt, word, system, []string{prompt})
	}
}

// notOnRecord looks at what becomes of an error that quotes what is in the arguments.
func notOnRecord(t *testing.T, name string, inv *engine.Invocation, prompt, word, system string, args []string) {
	t.Helper()
	all := strings.Join(args, " ")
	for text, secret := range map[string]string{
		"bad request: " + prompt: "Hooli", `{"error":"cannot do \"` + prompt + `\""}`: "Hooli", "prompt too long: " + prompt[:24] + "…": "Initech", "unknown command: " + word: word, "system: " + system: "board of",
	} {
		quoted := strings.Contains(all, prompt) && secret != word && secret != "board of" || strings.Contains(all, secret) && (secret == word || secret == "board of")
		if got := inv.Redact(text); quoted && strings.Contains(got, secret) {
			t.Errorf("%s: %q became %q", name, text, got)
		}
	}
	if got := inv.Redact("model gpt-5 not found, see --help"); got != "model gpt-5 not found, see --help" {
		t.Errorf("%s: %q", name, got)
	}
}

// The messages of a conversation that come from a file are known, and what the caller conceals of a plain command.
func TestInvocation_Conceal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "messages")
	os.WriteFile(path, []byte(`{"type":"user","message":{"role":"user","content":"Tell Initech that the \"merger\" with Hooli is off"}}`+"\n"), 0o600)
	messages, err := os.Open(path)
	must.OK(t, err)
	defer messages.Close()
	args := []string{"claude", "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"}
	p, _ := profile.Bind("claude", args, nil, "")
	talk, err := (&engine.Runner{Profile: p}).Prepare(t.Context(), belaytype.Command{Args: args, Stdin: messages})
	must.OK(t, err)
	plain, err := (&engine.Runner{}).Prepare(t.Context(), belaytype.Command{Args: []string{"grep", `Tell Initech that the "merger" with Hooli is off`}})
	must.OK(t, err)
	const text = `refused: Tell Initech that the "merger" with Hooli`
	if got := plain.Redact(text); got != text { // an argument of a plain command is no prompt
		t.Errorf("%q", got)
	}
	plain.Conceal(`Tell Initech that the "merger" with Hooli is off`)
	for _, inv := range []*engine.Invocation{talk, plain} {
		if got := inv.Redact(text); strings.Contains(got, "Hooli") || strings.Contains(got, "Initech") {
			t.Errorf("%q", got)
		}
	}
}
