package cli

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A JSON string is read as its text, wherever the pieces of it end.
func TestUnquoter(t *testing.T) {
	text := "plain, \"quoted\", \\ and \\u0041, é, 漢, 😀 \x1b[31m\u2028\n"
	quoted, err := json.Marshal(strings.Repeat(text, 3))
	if err != nil {
		t.Fatal(err)
	}
	escaped := strings.ReplaceAll(string(quoted[1:len(quoted)-1]), "😀", `\ud83d\uDE00`)
	for _, tt := range []struct{ quoted, want string }{{escaped, strings.Repeat(text, 3)}, {"", ""}, {`\ud83dx\n`, "\uFFFDx\n"}} {
		for name, from := range map[string]io.Reader{"whole": strings.NewReader(tt.quoted), "by byte": iotest.OneByteReader(strings.NewReader(tt.quoted)), "by half": iotest.HalfReader(strings.NewReader(tt.quoted))} {
			if got, err := io.ReadAll(&unquoter{from: from}); err != nil || string(got) != tt.want {
				t.Errorf("%s: %v, %q", name, err, got)
			}
		}
	}
	if _, err := io.ReadAll(&unquoter{from: strings.NewReader(`cut \u00`)}); err == nil {
		t.Error("half an escape is accepted")
	}
}
