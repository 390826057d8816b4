package metrics_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// The dashboard asks for nothing that there is not.
func TestGrafana_AsksForWhatThereIs(t *testing.T) {
	data, err := os.ReadFile("../../../docs/grafana.json")
	must.OK(t, err)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(data, &dashboard); err != nil || len(dashboard.Panels) == 0 {
		t.Fatal(err)
	}
	snap := snapshot()
	text := string(snap.Text())
	names := regexp.MustCompile(`belay_[a-z_]+`)
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			for _, name := range names.FindAllString(target.Expr, -1) {
				if !strings.Contains(text, "\n"+name+"{") {
					t.Errorf("%s asks for %s", p.Title, name)
				}
			}
		}
	}
}
