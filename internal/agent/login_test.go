package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
)

// Of a login it is known whether it has changed, and when it expires. What cannot be one is unknown, and never waited for.
func TestStoredLogin(t *testing.T) {
	dir := t.TempDir()
	at := func(name, content string) agent.StoredLogin {
		l := agent.StoredLogin{Path: filepath.Join(dir, name), Expires: []string{"a", "expires"}}
		if content != "" {
			must.OK(t, os.WriteFile(l.Path, []byte(content), 0o600))
		}
		return l
	}
	good := at("good", `{"a":{"expires":1800000000000,"token":"x"},"b":1}`)
	must.OK(t, os.Mkdir(filepath.Join(dir, "directory"), 0o700))
	missing, directory, large := at("missing", ""), at("directory", ""), at("large", strings.Repeat(" ", 1<<20+1))
	if got := good.Look().Expires; got.UnixMilli() != 1_800_000_000_000 {
		t.Errorf("expires %v", got)
	}
	for _, content := range []string{"{", "[]", `{"a":[]}`, `{"a":{}}`, `{"a":{"expires":"soon"}}`, `{"a":{"expires":-1}}`, `{"a":{"expires":1e300}}`, "null", "\x00"} {
		if got := at("torn", content).Look().Expires; !got.IsZero() {
			t.Errorf("%s expires %v", content, got)
		}
	}
	torn := at("torn", "{")
	var none agent.StoredLogin
	for i, tt := range []struct {
		before, now agent.StoredLogin
		replaced    bool
	}{
		{good, torn, true}, {torn, good, true}, {missing, good, true}, {good, good, false}, {good, missing, false},
		{missing, missing, false}, {directory, good, false}, {good, directory, false}, {large, good, false}, {none, good, false}, {good, none, false},
	} {
		if got := tt.before.Look().Replaced(tt.now.Look()); got != tt.replaced {
			t.Errorf("%d: %v", i, got)
		}
	}
	if at := directory.Look().Expires; !at.Equal(time.Time{}) {
		t.Errorf("%v", at)
	}
}
