//go:build linux

package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// workflows are the texts of our own workflows and of the examples, by path.
func workflows(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, dir := range []string{".github/workflows", "examples/github-actions"} {
		paths, _ := filepath.Glob(filepath.Join("../../..", dir, "*.yml"))
		for _, path := range paths {
			text, err := os.ReadFile(path)
			must.OK(t, err)
			texts[path] = string(text)
		}
	}
	if len(texts) < 4 {
		t.Fatalf("workflows: %v", texts)
	}
	return texts
}

// Actions of others are named by a commit, which cannot be moved, with the version for people to read; what checks code out leaves no
// credentials behind for it; and rights are given to jobs, of which one writes.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	uses := regexp.MustCompile(`(?m)^[ -]*uses: (.*)$`)
	pinned := regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for path, text := range workflows(t) {
		for _, m := range uses.FindAllStringSubmatch(text, -1) {
			if !pinned.MatchString(m[1]) && !strings.HasPrefix(m[1], "belay-run/belay@v") {
				t.Errorf("%s: %s is not pinned by its commit", path, m[1])
			}
		}
		if strings.Count(text, "actions/checkout@") != strings.Count(text, "persist-credentials: false") {
			t.Errorf("%s: a checkout leaves its credentials behind", path)
		}
		if !strings.Contains(text, "\npermissions: {}\n") {
			t.Errorf("%s: rights are given to all jobs", path)
		}
		for job := range strings.SplitSeq(text[strings.Index(text, "\njobs:"):], "\n    permissions:\n") {
			if strings.Contains(job, ": write\n") && strings.Contains(job, "actions/checkout@") {
				t.Errorf("%s: a job with code of the repository may write", path)
			}
		}
	}
}

// What is uploaded is what checksums.txt lists, with it and the statement of its origin.
func TestRelease_Uploads(t *testing.T) {
	t.Parallel()
	need(t, false, "bash")
	text := workflows(t)["../../../.github/workflows/release.yml"]
	_, step, found := strings.Cut(text, "- name: Publish\n")
	_, step, found2 := strings.Cut(step, "run: |\n")
	step, _, found3 := strings.Cut(step, "        env:\n")
	if !found || !found2 || !found3 {
		t.Fatalf("no step that publishes with a script: %s", text)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"checksums.txt": "00  Containerfile\n01  belay_0.3.0_linux_amd64.tar.gz\n02  install.sh\n", "notes.md": "", "origin.json": "",
		"Containerfile": "", "belay_0.3.0_linux_amd64.tar.gz": "", "install.sh": "", "forgotten.txt": ""} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	program(t, filepath.Join(dir, "tools/gh"), `for file do [ -f "$file" ] && [ "$file" != notes.md ] && echo "$file"; done; :`+"\n")
	cmd := exec.Command("bash", "-eo", "pipefail", "-c", step)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "tools")+":"+os.Getenv("PATH"), "GITHUB_REF_NAME=v0.3.0", "ORIGIN=origin.json")
	out, err := cmd.CombinedOutput()
	got := strings.Fields(string(out))
	slices.Sort(got)
	if want := []string{"Containerfile", "belay_0.3.0.sigstore.json", "belay_0.3.0_linux_amd64.tar.gz", "checksums.txt", "install.sh"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\nuploaded: %q\nwant:     %q", err, got, want)
	}
}
