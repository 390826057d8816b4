package codex

import (
	"io"
	"regexp"
	"slices"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/safefile"
)

// reviewArgs is the line of a review. Codex reads its instructions from stdin only where it is told to.
func (l *line) reviewArgs(t agent.Turn) (args []string, stdin []byte, err error) {
	_, word := l.prompt()
	switch {
	case word != nil && word.Values[0] == "-":
		stdin = t.Input("\n\n")
		return l.args(), stdin, checkSize(string(stdin))
	case t.Prompt == nil && (word == nil || len(word.Values[0]) <= agent.MaxArgument):
		return l.args(), nil, nil
	case word == nil:
		return append(l.args(), "-"), []byte(*t.Prompt), checkSize(*t.Prompt)
	}
	stdin = []byte(word.Values[0])
	if t.Prompt != nil {
		stdin = []byte(combine(word.Values[0], *t.Prompt))
	}
	return l.withPrompt("-"), stdin, checkSize(string(stdin))
}

// findReviewers finds the records of those who do a review: codex has other threads do it, and counts nothing of that itself.
// The record of its own thread, which is the first, names them, from 0.150 on.
func (f *follower) findReviewers() {
	own := f.records[0]
	if !f.reviews || f.reviewersAt == own.at {
		return
	}
	f.reviewersAt = own.at
	for _, id := range threadsIn(own.path) {
		path := findRollout(f.home, id)
		if path != "" && !slices.ContainsFunc(f.records, func(r *rolloutReader) bool { return r.path == path }) {
			f.records = append(f.records, newRolloutReader(path, f.start, 0, f.model))
		}
	}
}

// threadsIn are the threads that a record names. That of a review is short: the work is in theirs.
func threadsIn(path string) (ids []string) {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, 8<<20))
	for _, m := range regexp.MustCompile(`"thread_id":"(.{36})`).FindAllSubmatch(data, -1) {
		if id := string(m[1]); agent.IsUUID(id) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
