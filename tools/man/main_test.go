package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The pages name every flag with what it takes, and nothing in another form.
func TestPages(t *testing.T) {
	list := pages()
	if len(list) < 30 {
		t.Errorf("only %d pages were made", len(list))
	}
	for _, want := range []string{`\fB\-\-no\-wait\fR` + "\nfail instead", `\fB\-\-max\-retries\fR \fIN\fR` + "\n", ".SS \"Time limits\"\n",
		".SH NAME\nbelay\\-run \\- Run a command", "\n.BR belay (1)\n"} {
		if !strings.Contains(list["belay-run"], want) {
			t.Errorf("belay-run.1 lacks %q", want)
		}
	}
	for name, page := range list {
		if strings.Contains(page, "[=") && !strings.Contains(page, "NAME[=USD") {
			t.Errorf("%s.1 shows the value of a switch", name)
		}
	}
	if !strings.Contains(list["belay-exit-codes"], "75") || !strings.Contains(list["belay"], ".BR belay\\-exit\\-codes (1)") {
		t.Error("topics have no pages, or belay.1 does not name them")
	}
}

// mandoc and groff find nothing wrong.
func TestPages_Lint(t *testing.T) {
	for _, tool := range [][]string{{"mandoc", "-T", "lint", "-W", "warning"}, {"groff", "-man", "-Tutf8", "-ww", "-z"}} {
		t.Run(tool[0], func(t *testing.T) {
			if _, err := exec.LookPath(tool[0]); err != nil {
				if os.Getenv("CI") != "" && tool[0] == "mandoc" {
					t.Fatal("mandoc is not installed")
				}
				t.Skip(tool[0] + " is not installed")
			}
			dir := t.TempDir()
			args := tool[1:]
			for name, page := range pages() {
				path := filepath.Join(dir, name+".1")
				if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, path)
			}
			if out, err := exec.Command(tool[0], args...).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v\n%.4000s", err, out)
			}
		})
	}
}
