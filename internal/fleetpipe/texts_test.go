package fleetpipe

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/belay-run/belay/internal/test/must"
)

// A JSON string is read as its text, wherever the pieces of it end.
func TestUnquoter(t *testing.T) {
	text := "plain, \"quoted\", \\ and \\u0041, é, 漢, 😀 \x1b[31m\u2028\n"
	quoted, err := json.Marshal(strings.Repeat(text, 3))
	must.OK(t, err)
	escaped := strings.ReplaceAll(string(quoted[1:len(quoted)-1]), "😀", `\ud83d\uDE00`)
	for _, tt := range []struct{ quoted, want string }{{escaped, strings.Repeat(text, 3)}, {"", ""}, {`\ud83dx\n`, "\uFFFDx\n"}} {
		for name, from := range map[string]io.Reader{"whole": strings.NewReader(tt.quoted), "by byte": iotest.OneByteReader(strings.NewReader(tt.quoted)), "by half": iotest.HalfReader(strings.NewReader(tt.quoted))} {
			if got, err := io.ReadAll(&unquoter{from: from}); err != nil || string(got) != tt.want {
				t.Errorf("%s: %v, %q", name, err, got)
			}
		}
	}
}

// A text that a worker has sent is not taken for one unless it is a JSON string: it would break the line of the results that it is in.
func TestFleetText_Check(t *testing.T) {
	for text, ok := range map[string]bool{`"a \" b"`: true, `""`: true, ``: false, `"`: false, `"cut`: false, `"cut \"`: false, `"cut \u00"`: false, `"two", "strings"`: false, "\"line\nend\"": false, `"\q"`: false, `{}`: false} {
		texts := Texts{}
		for _, c := range []byte(text) {
			texts.Add(&Part{ID: 1, Data: []byte{c}})
		}
		got := texts.Take(1)
		if err := got.Check(); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
		got.Close()
	}
}
