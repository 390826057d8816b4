package label_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/label"
)

func TestCheckName(t *testing.T) {
	for _, name := range []string{"nightly", "Überprüfung 3", "a/b:c", strings.Repeat("x", 100)} {
		if err := label.CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", " ", " x", "x ", "a\nb", "a\x1b[31m", "a\u202eb", "a\xff", strings.Repeat("x", 101)} {
		if err := label.CheckName(name); err == nil || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"team=web":           {"team": "web"},
		"team=web,env=ci":    {"team": "web", "env": "ci"},
		"team=web, env = ci": {"team": "web", "env": "ci"},
		"a.b-c_1=x=y":        {"a.b-c_1": "x=y"},
		"team=":              {"team": ""},
	} {
		if got, err := label.Parse(text); err != nil || !maps.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "team", "=web", "te am=web", "team=a\nb", "team=web,", "-x=1", ".x=1", "é=1", "a=" + strings.Repeat("v", 101), strings.Repeat("k", 41) + "=v"} {
		if got, err := label.Parse(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// What one writes, the other reads.
func FuzzParse(f *testing.F) {
	f.Add("team=web,env=ci")
	f.Add("a==,b=")
	f.Fuzz(func(t *testing.T, text string) {
		tags, err := label.Parse(text)
		if err != nil {
			return
		}
		again, err := label.Parse(label.Format(tags))
		if err != nil || !maps.Equal(tags, again) {
			t.Errorf("%q: %q, and again %q, %v", text, tags, again, err)
		}
	})
}

func TestCheck_BoundsThemTogether(t *testing.T) {
	many, long := map[string]string{}, map[string]string{}
	for i := range 21 {
		many["k"+strings.Repeat("x", i)] = "v"
		if i < 15 {
			long["k"+strings.Repeat("x", i)] = strings.Repeat("v", 100)
		}
	}
	for _, tags := range []map[string]string{many, long} {
		if err := (label.Labels{Tags: tags}).Check(); err == nil {
			t.Errorf("%d tags are taken", len(tags))
		}
	}
	if err := (label.Labels{Name: "n", Tags: map[string]string{"team": "web"}}).Check(); err != nil {
		t.Error(err)
	}
}

func TestInherited(t *testing.T) {
	t.Setenv(label.NameVar, "nightly")
	t.Setenv(label.TagVar, "team=web,env=ci,none=")
	got := label.Labels{Tags: map[string]string{"env": "prod", "team": ""}}.Over(label.Inherited())
	if want := "nightly env=prod"; got.String() != want {
		t.Errorf("%q, want %q", got, want)
	}
	if env := strings.Join(got.Environ(), " "); env != "BELAY_NAME=nightly BELAY_TAG=env=prod" {
		t.Errorf("passed on as %q", env)
	}
	t.Setenv(label.NameVar, "a\nb")
	t.Setenv(label.TagVar, "team")
	if got := label.Inherited(); got.Name != "" || got.Tags != nil {
		t.Errorf("what is no label is taken: %+v", got)
	}
}

func TestRedacted(t *testing.T) {
	l := label.Labels{Name: "ghp_16C7e42F292c6912E7710c838347Ae178B4a", Tags: map[string]string{"api_key": "x", "team": "web"}}.Redacted()
	if strings.Contains(l.Name, "ghp_") || l.Tags["api_key"] == "x" || l.Tags["team"] != "web" {
		t.Errorf("%+v", l)
	}
}
