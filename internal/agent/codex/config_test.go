package codex

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/belay-run/belay/internal/test/must"
)

func config(t *testing.T, text string) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	values := map[string]string{}
	readConfig(path, values)
	return values
}

func TestReadConfig(t *testing.T) {
	acme := map[string]string{"model_provider": "acme", "model_providers.acme.base_url": "http://acme/v1"}
	for name, tt := range map[string]struct {
		text string
		want map[string]string
	}{
		"empty":        {"", nil},
		"a table":      {"model_provider = 'acme'\n[model_providers.acme]\nbase_url = \"http://acme/v1\"\n", acme},
		"dotted keys":  {"model_provider='acme'\nmodel_providers.acme.base_url='http://acme/v1'", acme},
		"half dotted":  {"model_provider='acme'\n[model_providers]\nacme.base_url='http://acme/v1'", acme},
		"inline":       {"model_provider='acme'\nmodel_providers.acme = { base_url = 'http://acme/v1' }", acme},
		"all inline":   {"model_provider='acme'\nmodel_providers = { acme = { base_url = 'http://acme/v1' } }", acme},
		"quoted keys":  {"'model_provider'='acme'\n[\"model_providers\" . 'acme']\n\"base_url\"='http://acme/v1'", acme},
		"escapes":      {`model_provider = "ac\u006de"`, map[string]string{"model_provider": "acme"}},
		"a number":     {"[model_providers.a]\nrequest_max_retries = 2 # two", map[string]string{"model_providers.a.request_max_retries": "2"}},
		"with = and #": {`openai_base_url = "http://h/?a=b#c" # d`, map[string]string{"openai_base_url": "http://h/?a=b#c"}},
		"in a text": {"notes = \"\"\"\nmodel_provider = \"wrong\"\n[model_providers.wrong]\n\"\"\"\nmodel_provider = 'acme'",
			map[string]string{"model_provider": "acme"}},
		"in an array":         {"notify = [\n'model_provider = wrong',\n]\nmodel_provider = 'acme'", map[string]string{"model_provider": "acme"}},
		"of another table":    {"[profiles.x]\nmodel_provider = 'wrong'\n[[model_provider_list]]\nopenai_base_url = 'wrong'", nil},
		"after another table": {"[other]\nx = 1\n[model_providers.a]\nbase_url = 'http://a'", map[string]string{"model_providers.a.base_url": "http://a"}},
		"before a mistake":    {"model_provider = 'acme'\n]]]\nopenai_base_url = 'x'", map[string]string{"model_provider": "acme"}},
		"windows lines":       {"model_provider = 'acme'\r\n[model_providers.acme]\r\nbase_url = 'http://acme/v1'\r\n", acme},
		"too large":           {"model_provider = 'acme'\nx = '" + strings.Repeat("x", maxConfig) + "'\nopenai_base_url = 'x'", map[string]string{"model_provider": "acme"}},
	} {
		if got := config(t, tt.text); !maps.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

func TestReadConfig_NoFile(t *testing.T) {
	values := map[string]string{}
	for _, path := range []string{filepath.Join(t.TempDir(), "missing"), t.TempDir()} {
		if readConfig(path, values); len(values) > 0 {
			t.Errorf("%s: %v", path, values)
		}
	}
}

// The value of -c is TOML, or a string as it is.
func TestSetOverride(t *testing.T) {
	for given, want := range map[string]map[string]string{
		`model_provider=acme`:                                 {"model_provider": "acme"},
		`model_provider="acme"`:                               {"model_provider": "acme"},
		`model_provider='acme'`:                               {"model_provider": "acme"},
		`model_provider="acme`:                                {"model_provider": "acme"},
		`model_provider=`:                                     {"model_provider": ""},
		`openai_base_url=http://h/v1?a=b`:                     {"openai_base_url": "http://h/v1?a=b"},
		`model_providers."a".base_url=http://h`:               {"model_providers.a.base_url": "http://h"},
		`model_providers.a.request_max_retries=3`:             {"model_providers.a.request_max_retries": "3"},
		`model_providers.a={base_url="http://h",env_key='K'}`: {"model_providers.a.base_url": "http://h", "model_providers.a.env_key": "K"},
		`model_providers={a={base_url="http://h"}}`:           {"model_providers.a.base_url": "http://h"},
		`model=gpt-5`:                                         {"model": "gpt-5"},
		`sandbox_workspace_write={network_access=true}`:       {},
	} {
		values := map[string]string{}
		key, value, _ := strings.Cut(given, "=")
		if setOverride(values, key, value); !maps.Equal(values, want) {
			t.Errorf("%s: %v, want %v", given, values, want)
		}
	}
}

// Of every document that is TOML, what we look for is read as go-toml decodes it.
func FuzzReadConfig(f *testing.F) {
	f.Add("model_provider = 'acme'\n[model_providers.acme]\nbase_url = \"http://acme/v1\"\n")
	f.Add("model_providers = { a = { b = 'c' } }\n[x]\nopenai_base_url = '''\n'''\n[[y.z]]\n")
	f.Add("'model_provider' = \"\\u0041\" # x\nx = [ 'y', { z = 1979-05-27 } ]")
	path := filepath.Join(f.TempDir(), "config.toml")
	f.Fuzz(func(t *testing.T, text string) {
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
		got := map[string]string{}
		readConfig(path, got)
		var doc map[string]any
		if toml.Unmarshal([]byte(text), &doc) != nil {
			return
		}
		want := map[string]string{}
		if !flatten(want, "", doc) {
			return
		}
		for key, value := range want {
			if wanted(key) && got[key] != value {
				t.Errorf("%s: %q, want %q in %q", key, got[key], value, text)
			}
		}
	})
}

// flatten puts the strings of a document into values under their dotted keys; false if those are not unique.
func flatten(values map[string]string, prefix string, doc map[string]any) bool {
	for key, value := range doc {
		if strings.Contains(key, ".") {
			return false
		}
		switch v := value.(type) {
		case map[string]any:
			if !flatten(values, prefix+key+".", v) {
				return false
			}
		case string:
			values[prefix+key] = v
		}
	}
	return true
}
