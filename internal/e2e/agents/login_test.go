//go:build linux

package agents_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/telemetry/otlptest"
	"github.com/belay-run/belay/internal/test/must"
)

// loginOf is how a CLI keeps its login, and how it is made to use it with an API at that address.
type loginOf struct {
	file    string                   // below the home
	content func(name string) string // of a login whose token has the name in it
	prepare func(s *stage.Stage, url string)
	renewAt func(path string, refused int) bool // the login is renewed before this request is answered
}

// token is a JWT that codex takes for good until 2096. Its name can be read in it.
func token(name string) string {
	encode := base64.RawURLEncoding.EncodeToString
	claims := `{"email":"a@example.com","exp":4000000000,"https://api.openai.com/auth":{"chatgpt_account_id":"account","chatgpt_plan_type":"pro"}}`
	return encode([]byte(`{"alg":"none"}`)) + "." + encode([]byte(claims)) + "." + name
}

var logins = map[*agent]loginOf{
	claude: {".claude/.credentials.json", func(name string) string {
		return fmt.Sprintf(`{"claudeAiOauth":{"accessToken":"sk-ant-oat01-%s","refreshToken":"sk-ant-ort01-refresh","expiresAt":4000000000000,"scopes":["user:inference"]}}`, name)
	}, func(s *stage.Stage, url string) {
		s.Env = append(s.Env, "ANTHROPIC_API_KEY=", "ANTHROPIC_BASE_URL="+url)
	}, func(path string, refused int) bool {
		return refused == 1
	}},
	codex: {".codex/auth.json", func(name string) string {
		return fmt.Sprintf(`{"auth_mode":"chatgpt","tokens":{"id_token":%q,"access_token":%q,"refresh_token":"rt-codex-refresh","account_id":"account"},"last_refresh":"2096-01-01T00:00:00Z"}`,
			token("id"), token(name))
	}, func(s *stage.Stage, url string) {
		config := fmt.Sprintf("model_provider = \"x\"\nchatgpt_base_url = %q\n[model_providers.x]\nname = \"x\"\nbase_url = %q\nwire_api = \"responses\"\nrequires_openai_auth = true\n", url, url+"/v1")
		must.OK(s.T, os.WriteFile(filepath.Join(s.Dir, "api", "home", ".codex", "config.toml"), []byte(config), 0o600))
		s.Env = append(s.Env, "OPENAI_API_KEY=", "CODEX_API_KEY=", "CODEX_REFRESH_TOKEN_URL_OVERRIDE="+url+"/oauth/token")
	}, func(path string, refused int) bool {
		return strings.Contains(path, "oauth") // it was about to renew it itself, and comes second
	}},
}

// ofLogins is what only the files of logins have in them: tokens, also in part, when they expire, whose they are.
var ofLogins = []string{"sk-ant-o", token(""), "rt-codex", "a@example.com", "4000000000", "2096-01-01"}

// A login that another process renews while the CLI is told that it is not valid: one more try, and nothing of the file is on record, in any field of the log or
// in what is sent by telemetry.
func TestLogin_Renewed(t *testing.T) {
	t.Parallel()
	sends := t.TempDir()
	must.OK(t, built.Into(sends, built.Companion))
	for a, login := range logins {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			s := a.New(t, a.Versions[0], "200")
			receiver := &otlptest.Receiver{}
			collector := receiver.Start()
			t.Cleanup(collector.Close)
			s.Env = append(s.Env, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "PATH="+strings.Join([]string{sends, filepath.Dir(s.Agent), os.Getenv("PATH")}, ":"))
			path := filepath.Join(s.Dir, "api", "home", login.file)
			write := func(name string) {
				must.OK(t, os.WriteFile(path+".new", []byte(login.content(name)), 0o600))
				must.OK(t, os.Rename(path+".new", path))
			}
			write("OLD")
			var refused atomic.Int64
			api, err := url.Parse(s.API.URL())
			must.OK(t, err)
			behind := httputil.NewSingleHostReverseProxy(api)
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasPrefix(r.URL.Path, "/v1/") && !strings.HasPrefix(r.URL.Path, "/oauth/") { // what else codex asks for
					http.NotFound(w, r)
					return
				}
				if strings.HasSuffix(r.Header.Get("Authorization"), "NEW") {
					behind.ServeHTTP(w, r)
					return
				}
				io.Copy(io.Discard, r.Body)
				if r.Method == http.MethodPost && login.renewAt(r.URL.Path, int(refused.Add(1))) {
					write("NEW")
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusUnauthorized)
				io.WriteString(w, `{"type":"error","error":{"type":"authentication_error","message":"The token has expired.","code":"refresh_token_reused"}}`)
			}))
			t.Cleanup(front.Close)
			login.prepare(s, front.URL)
			r := s.Belay([]string{"--max-retries", "0", "--telemetry"}, a.ask("say hi"))
			r.Exits(0)
			r.Is("", 2)
			r.Says(a.Name + " could not log in, but the login has been renewed meanwhile; trying once more")
			nowhere := func(where, text string) {
				hash := func(name string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(login.content(name)))) }
				for _, part := range append(ofLogins, hash("OLD"), hash("NEW")) {
					if strings.Contains(text, part) {
						t.Errorf("%s of the login is in %s", part, where)
					}
				}
			}
			log, err := os.ReadFile(r.Result.Log)
			must.OK(t, err)
			fields := 0
			for line := range bytes.Lines(log) {
				var entry map[string]any
				must.OK(t, json.Unmarshal(line, &entry))
				for name, field := range entry { // without the escapes of JSON
					nowhere("the log's "+name, fmt.Sprintf("%+v", field))
					fields++
				}
			}
			s.Run("belay", "telemetry").Exits(0)
			for _, body := range receiver.Bodies() {
				nowhere("telemetry", string(body))
			}
			if byID, _ := receiver.Distinct(); fields < 20 || len(byID) < 3 { // the run and its attempts
				t.Errorf("%d fields in the log, %d spans", fields, len(byID))
			}
			must.OK(t, filepath.WalkDir(s.State, func(path string, d os.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return err
				}
				data, err := os.ReadFile(path)
				nowhere(path, string(data))
				return err
			}))
		})
	}
}
