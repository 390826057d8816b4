package belay_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// guided is a file that a guide shows whole, under the path at the end of the sentence before it.
var guided = regexp.MustCompile("(?s)`(internal/[a-z/]+)/([a-z]+\\.go)`:\n\n```go\n(.*?)\n```\n")

// The commands that docs/add-a-command.md adds compile, as they would with their folders in the tree.
func TestGuide_CommandsCompile(t *testing.T) {
	root, err := os.Getwd()
	must.OK(t, err)
	args := []string{"build"}
	files := map[string]string{}
	for _, m := range guided.FindAllStringSubmatch(text(t, filepath.Join("docs", "add-a-command.md")), -1) {
		path := filepath.Join(t.TempDir(), m[2])
		must.OK(t, os.WriteFile(path, []byte(m[3]+"\n"), 0o600))
		files[filepath.Join(root, m[1], m[2])] = path
		args = append(args, "./"+m[1])
	}
	if len(files) != 2 {
		t.Fatalf("the guide has the files %v", files)
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	data, err := json.Marshal(map[string]any{"Replace": files})
	must.OK(t, err)
	must.OK(t, os.WriteFile(overlay, data, 0o600))
	cmd := exec.Command("go", append([]string{args[0], "-overlay", overlay}, args[1:]...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
