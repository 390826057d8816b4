package clientfile_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/clientfile"
)

// writerVar makes the test binary a client that changes the file that it names again and again.
const writerVar = "CLIENTFILE_TEST_WRITER"

func TestMain(m *testing.M) {
	if how := os.Getenv(writerVar); how != "" {
		edits, _ := strconv.Atoi(os.Args[2])
		if err := writeEdits(how, os.Args[1], edits); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// settingsWithEdits is a file that counts the edits of the client; layout and hooks are left as they are.
func settingsWithEdits(n int) string {
	return fmt.Sprintf(`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "notify"}]}]}, "edits": %d}`, n)
}

// writeEdits changes the file as clients do, so many times, and says how many of its own edits it did not find again. It writes a new
// file and renames it, or writes into the file as it is.
func writeEdits(how, path string, edits int) error {
	lost, n, random := 0, 0, rand.New(rand.NewPCG(1, 0))
	fmt.Println("ready")
	for range edits {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var doc struct{ Edits int }
		if err := json.Unmarshal(text, &doc); err != nil {
			return fmt.Errorf("%w: %q", err, text)
		}
		if doc.Edits != n {
			lost++
		}
		n = doc.Edits + 1
		text = []byte(strings.Replace(string(text), fmt.Sprintf(`"edits": %d}`, doc.Edits), fmt.Sprintf(`"edits": %d}`, n), 1))
		switch {
		case how == "Rename" || how == "Both" && n%2 == 0:
			tmp := path + ".tmp"
			if err = os.WriteFile(tmp, text, 0o600); err == nil {
				err = os.Rename(tmp, path)
			}
		default:
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			return err
		}
		if pause := random.IntN(20); pause > 0 { // clients write now and then, in bursts
			time.Sleep(time.Duration(pause) * 10 * time.Microsecond)
		}
	}
	fmt.Println(lost)
	return nil
}

// While belay is put in front of the hooks of a file and taken away again, all the time, a client changes the file. No change of the client's is
// lost: of 12,000 some twenty were, each between the last look at the file and the rename.
func TestFile_Replace_ConcurrentEdits(t *testing.T) {
	edits := 300
	if os.Getenv("BELAY_TEST_FULL") != "" {
		edits = 12_000
	}
	for _, how := range []string{"Rename", "InPlace", "Both"} {
		t.Run(how, func(t *testing.T) {
			l := at(t, "claude", clientfile.Hooks, clientfile.User)
			if err := errors.Join(os.MkdirAll(filepath.Dir(l.Path), 0o700), os.WriteFile(l.Path, []byte(settingsWithEdits(0)), 0o600)); err != nil {
				t.Fatal(err)
			}
			client := exec.Command(os.Args[0], l.Path, strconv.Itoa(edits))
			client.Env = append(os.Environ(), writerVar+"="+how)
			out, err := client.StdoutPipe()
			if err == nil {
				err = client.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			says := bufio.NewScanner(out)
			says.Scan()
			done := make(chan struct{})
			var changed, made int
			var said string
			go func() {
				defer close(done)
				for says.Scan() {
					said = says.Text()
				}
			}()
			for running := true; running; {
				select {
				case <-done:
					running = false
				default:
				}
				switch err := toggle(l); {
				case err == nil:
					made++
				case errors.Is(err, clientfile.ErrChanged):
					changed++
				case how == "Rename":
					t.Error(err)
				}
			}
			client.Wait()
			lost, err := strconv.Atoi(said)
			if err != nil {
				t.Fatalf("the client said %q", said)
			}
			t.Logf("%d edits of the client's, %d of belay's, %d of belay's came to nothing because of a change", edits, made, changed)
			if lost > 0 {
				t.Errorf("%d of %d edits are lost", lost, edits)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(l.Path), ".settings.json.*")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// toggle puts belay in front of the hooks of a file, or takes it away.
func toggle(l clientfile.Location) error {
	f, err := clientfile.Read(l)
	if err != nil {
		return err
	}
	edit, err := f.Uninstall()
	if err == nil && len(edit.Changed) == 0 {
		edit, err = f.Install("belay")
	}
	if err == nil {
		_, err = f.Replace(edit.After)
	}
	return err
}
