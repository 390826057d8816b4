package main

import (
	"os"
	"testing"
)

// The tables of the documents are those that the code has now.
func TestReference_IsCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("a document is renewed last")
	}
	for _, d := range documents {
		text, err := os.ReadFile("../../" + d.path)
		if err != nil {
			t.Fatal(err)
		}
		renewed, err := d.renew(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if renewed != string(text) {
			t.Errorf("%s is not what the code says; run: go run ./scripts/reference", d.path)
		}
	}
}
