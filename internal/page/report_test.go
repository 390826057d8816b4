package page_test

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/page"
	"github.com/belay-run/belay/internal/page/view"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// A report stands for itself: nothing in it is imported or asked for, and what is on record can end neither its script nor a cell of a table.
func TestReport(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	s, err := state.Open(filepath.Join(t.TempDir(), "state"))
	must.OK(t, err)
	hostile := "</script><script>alert(1)</script> | `x` <!-- \u2028"
	log := s.Log(nil)
	if err := log.Append(journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Invocation: "a", Profile: "generic", Command: hostile, Attempt: 1, Status: "error", ErrorType: verdict.Network, Error: hostile,
		Usage: json.RawMessage(`{"input_tokens":10,"output_tokens":2,"total_cost_usd":0.25}`), Model: hostile}); err != nil {
		t.Fatal(err)
	}
	d, err := record.Open(s.Dir)
	must.OK(t, err)
	defer d.Close()
	if _, err := d.Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := page.NewReport(t.Context(), &view.Source{State: s, DB: d}, url.Values{"since": {"7d"}})
	must.OK(t, err)
	data, err := r.HTML()
	must.OK(t, err)
	html := string(data)
	if n := strings.Count(html, "</script>"); n != 2 {
		t.Errorf("%d scripts end", n)
	}
	if found := regexp.MustCompile(`(?m)^(import|export) .*`).FindString(html); found != "" {
		t.Errorf("there is a module in it: %s", found)
	}
	for _, address := range regexp.MustCompile(`(src|href)="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if !strings.HasPrefix(address[2], "#") && !strings.HasPrefix(address[2], "data:") {
			t.Errorf("it asks for %s", address[2])
		}
	}
	for _, want := range []string{"default-src 'none'; script-src 'sha256-", `"command":"\u003c/script`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s", want)
		}
	}
	md := r.Markdown()
	for _, want := range []string{"| 1 | 0.0 % | 1 |", "$0.2500", "| `network` | 1 |", "` </script><script>alert(1)</script>  `&#124;``  `x` <!--  `` |"} {
		if !strings.Contains(md, want) {
			t.Errorf("no %s in:\n%s", want, md)
		}
	}
}
