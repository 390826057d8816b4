//go:build linux

package release

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// script is the one that installs, as the action runs it. In a release it has the version filled in.
const script = "../../../install.sh"

// small is a release of scripts for this machine: what is tried with it needs nothing built.
type small struct {
	url     string
	dir     string
	archive string // its name
	mu      sync.Mutex
	asked   []string
}

func newSmall(t *testing.T, version string) *small {
	t.Helper()
	need(t, false, "curl", "sha256sum", "tar")
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("there is no archive for this platform")
	}
	dir := t.TempDir()
	name := "belay_" + version + "_linux_" + runtime.GOARCH
	for _, file := range []string{"bin/belay", "bin/belayd", "share/man/man1/belay.1", "share/completions/belay.bash", "share/completions/_belay", "share/completions/belay.fish",
		"README.md", "docs/run.md"} {
		program(t, filepath.Join(dir, name, file), "echo belay "+version+"\n")
	}
	run(t, "tar", "-czf", filepath.Join(dir, name+".tar.gz"), "-C", dir, name)
	archive, err := os.ReadFile(filepath.Join(dir, name+".tar.gz"))
	must.OK(t, err)
	for name, text := range map[string]string{
		"checksums.txt":                       fmt.Sprintf("%x  %s.tar.gz\n", sha256.Sum256(archive), name),
		"belay_" + version + ".sigstore.json": "{}\n",
		"install.sh":                          "echo FETCHED AND RUN\n",
	} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	s := &small{dir: dir, archive: name + ".tar.gz"}
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, strings.TrimPrefix(r.URL.Path, "/"))
		s.mu.Unlock()
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// took tells whether a file was asked for.
func (s *small) took(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.asked, name)
}
