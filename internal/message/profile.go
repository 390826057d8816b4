package message

import "fmt"

// Missing says that a key is missing.
func Missing() string { return "is missing" }

// MustBeTables says that something else stands where a list of tables should.
func MustBeTables(key string) string {
	return fmt.Sprintf("must be a list of tables, each under its own [[profile.NAME.%s]]", key)
}

// SessionMarkMissing says that arguments do not say where the id of a session goes.
func SessionMarkMissing() string { return "does not contain {session}, the place of the session's id" }

// SaveOutcome says how a profile is tried on outcomes.
func SaveOutcome(name string) string {
	return fmt.Sprintf("Save an outcome with: belay explain --profile %s --exit-code 1 --stdout out.txt --stderr err.txt --save outcomes.jsonl. "+
		"Then try the profile with: belay profile check %s outcomes.jsonl", name, name)
}

// OutcomesChecked says how many verdicts are as expected.
func OutcomesChecked(n, differ int) string {
	switch {
	case differ > 0:
		return fmt.Sprintf("Not as expected: %d of %s.", differ, Count(n, "verdict"))
	case n == 1:
		return "The verdict is as expected."
	}
	return fmt.Sprintf("All %d verdicts are as expected.", n)
}
