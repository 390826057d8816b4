//go:build linux

package upgrade_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/belay-run/belay/internal/test/must"
)

// What differs from machine to machine, as it stands in testdata.
const (
	placeDir  = "/home/ada"      // the directory that holds all
	placeBoot = "BOOT"           // the system's name in the names of run records
	placeName = "-home-ada-work" // the working directory, as claude names a folder after it
)

// folderName is what claude calls the folder of a directory.
func folderName(dir string) string {
	return regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(dir, "-")
}

// stored is the path of a file in testdata. Names that begin with a dot get another beginning: git would follow a .gitignore
// in testdata, and listings would hide the rest.
func stored(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, ".") && p != "." {
			parts[i] = "dot-" + p[1:]
		}
	}
	return strings.Join(parts, "/")
}

// unstored is the path that a file of testdata had.
func unstored(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if rest, ok := strings.CutPrefix(p, "dot-"); ok {
			parts[i] = "." + rest
		}
	}
	return strings.Join(parts, "/")
}

// save writes the home into testdata, without what belongs to this machine, and without what the agents keep beside their
// sessions.
func (m *maker) save() {
	t := m.T
	t.Helper()
	var times strings.Builder
	err := filepath.WalkDir(m.Dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(m.Dir, path)
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch {
		case strings.HasPrefix(name, "state/observability.sqlite-"):
			return nil
		case name == "state/observability.sqlite":
			data = m.savedDB(path)
		case strings.HasPrefix(name, "state/runs/"):
			boot, rest, _ := strings.Cut(filepath.Base(name), ".")
			name = strings.TrimSuffix(name, boot+"."+rest) + placeBoot + "." + rest
		case strings.HasPrefix(name, "api/home/.claude/projects/"):
			if data = slimmed(t, data, claudeLine); !remembers(data) {
				return nil
			}
			name = strings.Replace(name, folderName(m.Work), placeName, 1)
		case strings.HasPrefix(name, "api/home/.codex/sessions/"):
			if data = slimmed(t, data, codexLine); !remembers(data) {
				return nil
			}
		case strings.HasPrefix(name, "state/"), strings.HasPrefix(name, "config/"), strings.HasPrefix(name, "work/"):
		default:
			return nil
		}
		if info, _ := d.Info(); strings.HasPrefix(name, "state/") && !strings.HasSuffix(name, ".lock") {
			fmt.Fprintf(&times, "%s %s\n", info.ModTime().UTC().Format(time.RFC3339Nano), name)
		}
		data = bytes.ReplaceAll(data, []byte(m.Dir), []byte(placeDir))
		return put(filepath.Join("testdata/home", stored(name)), data)
	})
	if err == nil {
		err = put("testdata/times.txt", []byte(times.String()))
	}
	must.OK(t, err)
}

func put(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// savedDB is the database without the paths of this machine, also where nothing is written any more.
func (m *maker) savedDB(path string) []byte {
	m.T.Helper()
	moved(m.T, path, m.Dir, placeDir)
	data, err := os.ReadFile(path)
	if err != nil || bytes.Contains(data, []byte(m.Dir)) {
		m.T.Fatalf("the database has paths of this machine: %v", err)
	}
	return data
}

// moved makes one path of another in the database.
func moved(t *testing.T, path, from, to string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	must.OK(t, err)
	defer db.Close()
	for _, q := range []string{"UPDATE sessions SET dir = replace(dir, '" + from + "', '" + to + "')", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// remembers says that it is one of the sessions that the tests go on with.
func remembers(data []byte) bool { return bytes.Contains(data, []byte("remember ")) }

// slimmed are the lines of a session's record that are kept.
func slimmed(t *testing.T, data []byte, keep func(map[string]any) bool) []byte {
	t.Helper()
	var out bytes.Buffer
	for line := range bytes.Lines(data) {
		var l map[string]any
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%v in %.200s", err, line)
		}
		if keep(l) {
			data, _ := json.Marshal(l)
			out.Write(append(data, '\n'))
		}
	}
	return out.Bytes()
}

// claudeLast is the last message that was kept, which the next one follows.
var claudeLast any

// claudeLine keeps what was said, and what it has cost: not the vendor's own prompts.
func claudeLine(l map[string]any) bool {
	switch l["type"] {
	case "user", "assistant":
		if l["parentUuid"] != nil {
			l["parentUuid"] = claudeLast
		}
		claudeLast = l["uuid"]
		return true
	}
	return l["type"] == "cost-state"
}

// codexLine keeps what was said, what was used and what the session is: not the vendor's own prompts.
func codexLine(l map[string]any) bool {
	payload, _ := l["payload"].(map[string]any)
	switch l["type"] {
	case "session_meta":
		payload["base_instructions"] = map[string]any{"text": ""}
		return true
	case "response_item":
		text, _ := json.Marshal(payload["content"])
		return payload["role"] != "developer" && !bytes.Contains(text, []byte("_context"))
	}
	return slices.Contains([]any{"event_msg", "turn_context", "token_usage_record"}, l["type"])
}
