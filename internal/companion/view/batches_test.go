package view

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/state"
)

func TestBatches(t *testing.T) {
	st, err := state.Open(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	s := &Source{State: st}
	results := filepath.Join(t.TempDir(), "answers.jsonl")
	add := func(line string) {
		f, err := os.OpenFile(results, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(line + "\n")
		f.Close()
	}
	is := func(want ...string) {
		t.Helper()
		v, err := s.Batches(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(data), w) {
				t.Errorf("no %s in %s", w, data)
			}
		}
	}
	is(`"batches":[]`)
	add(`{"task":"a","hash":"0123456789abcdef","state":"done","cost_usd":0.25,"index":0,"success":true}`)
	if err := s.Registry().Note(batch.Entry{Results: results, Tasks: "questions.txt", Dir: "/x", Started: time.Now(), Retry: "belay batch"}); err != nil {
		t.Fatal(err)
	}
	is(`"name":"answers.jsonl"`, `"tasks":"questions.txt"`, `"total":1,"done":1,"failed":0`, `"cost_usd":0.25`, `"holder":null`, `"retry":"belay batch"`)
	add(`{"task":"b","hash":"0123456789abcdee","state":"failed","cost_usd":0,"index":1,"success":false,"error":"no luck","error_type":"network","profile":"claude"}`)
	is(`"total":2,"done":1,"failed":1`, `"failures":[{"error_type":"network","tasks":1,"first":"b","error":"no luck"}]`)
	os.Remove(results)
	is(`"batches":[]`)
}
