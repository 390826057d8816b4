package belay_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/belay-run/belay"
)

// A program inside a run has that run's labels; its own go before them, and are passed on.
func TestRunner_Labels(t *testing.T) {
	t.Setenv("BELAY_NAME", "nightly")
	t.Setenv("BELAY_TAG", "team=web,env=ci")
	r := belay.Runner{Tags: map[string]string{"env": "prod"}}
	res, err := r.Run(t.Context(), belay.Command{Args: []string{"sh", "-c", "echo $BELAY_NAME $BELAY_TAG"}})
	if got := res.Output.String(); err != nil || got != "nightly env=prod,team=web\n" {
		t.Errorf("passed on is %q, %v", got, err)
	}
	if want := map[string]string{"team": "web", "env": "prod"}; res.Name != "nightly" || !maps.Equal(res.Tags, want) {
		t.Errorf("the result has %q and %v", res.Name, res.Tags)
	}
	r.Name = "a\nb"
	if _, err = r.Run(t.Context(), belay.Command{Args: []string{"true"}}); err == nil {
		t.Error("a name of two lines is taken")
	}
	if _, ok := errors.AsType[*belay.UsageError](err); !ok {
		t.Errorf("%T", err)
	}
}
