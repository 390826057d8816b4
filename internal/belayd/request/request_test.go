package request_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/test/must"
)

func TestParse(t *testing.T) {
	a, err := request.Parse(stdio.Streams{}, "log", strings.Fields("--since=2h --follow=true -n=5 -- 1f0c9a3e"))
	must.OK(t, err)
	if a.Text("since") != "2h" || !a.On("follow") || a.On("json") || a.Text("n") != "5" || a.Text("until") != "" || !slices.Equal(a.Rest, []string{"1f0c9a3e"}) {
		t.Errorf("%v", a.Rest)
	}
	if a.Has("csv") || a.On("csv") {
		t.Error("log has no --csv")
	}
	if a, err = request.Parse(stdio.Streams{}, "log", nil); err != nil || a.Text("n") != "20" {
		t.Errorf("-n is %q, %v", a.Text("n"), err)
	}
	for line, want := range map[string]string{
		"log --nonsense": "flag provided but not defined: -nonsense", "stats --csv=maybe": `invalid boolean value "maybe"`, "events x": "belay events takes no arguments",
	} {
		name, rest, _ := strings.Cut(line, " ")
		if _, err := request.Parse(stdio.Streams{}, name, strings.Fields(rest)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
