//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// recording is the outcome of a real program.
type recording struct {
	Profile  string
	ExitCode *int `json:"exit_code"`
	Signal   string
	Stdout   string
	Stderr   string
}

// recordings are outcomes by program.
type recordings map[string][]recording

// readRecordings reads what the tree has for the tests of its profiles. A tree without any is fine: the scripts are others
// then.
func readRecordings(tree string) (recordings, error) {
	all := recordings{}
	files, _ := filepath.Glob(filepath.Join(tree, "internal/agent/*/testdata/*.jsonl"))
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var r recording
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			all[r.Profile] = append(all[r.Profile], r)
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return all, nil
}
