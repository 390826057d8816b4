package message

import (
	"testing"

	"github.com/belay-run/belay/verdict"
)

// Each class of failure has words: else people would read its name in the log, or nothing.
func TestClasses_HaveWords(t *testing.T) {
	for _, class := range verdict.Classes() {
		if fails := class != verdict.OK && class != verdict.Unknown; fails != (classes[class].noun != "") {
			t.Errorf("the words of %s are %+v", class, classes[class])
		}
	}
}
