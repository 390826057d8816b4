package message

import "fmt"

// UnknownKey says that a key is unknown. keys are those that there are.
func UnknownKey(key string, keys ...string) string {
	if near := Nearest(key, keys); near != "" {
		return "unknown key" + DidYouMean(near)
	}
	return Sentences("unknown key", "the keys are "+And(keys))
}

// Unguarded says that nothing runs because of a mistake in what protects.
func Unguarded(mistake, by string) string {
	return Sentences(mistake, "nothing runs until this is corrected, because "+by+" protects")
}

// OtherName says that a setting is given under two of its names. as is the other one, if that is not key itself.
func OtherName(key, as string, line int) string {
	if as != "" {
		as = " as " + as
	}
	return fmt.Sprintf("this is another name for %s, which is set%s in line %d. Remove one of the two", key, as, line)
}

// NotTogether says that two settings contradict each other.
func NotTogether(a, b string) string { return fmt.Sprintf("%s and %s cannot be used together", a, b) }

// MustBeTable says that something else stands where a table should. such, if not empty, is an example.
func MustBeTable(such string) string { return withExample("must be a table", such) }

// MustBeList says that a command is not given as a list.
func MustBeList() string {
	return withExample("must be a list", `["notify-send", "belay"]`) + "; no shell reads it"
}

// MustBeScalar says that a value is of a kind that no setting has: a table, or else a date or time.
func MustBeScalar(isTable bool) string {
	kind := "a date or time"
	if isTable {
		kind = "a table"
	}
	return "must be a string, a number, true, false or a list, not " + kind
}

// NotAString says that a value is not a string.
func NotAString(value any) string { return fmt.Sprintf("%v is not a string", value) }

func withExample(text, such string) string {
	if such == "" {
		return text
	}
	return text + ", such as " + such
}

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

// ProjectMayNot says that a project's file may not set this, alerts, budgets, prices or rules.
func ProjectMayNot(what string) string {
	it := "them"
	if what == "this" {
		it = "it"
	}
	return fmt.Sprintf("a project's file may not set %s. Put %s in your own config.toml", what, it)
}

// ProjectAboveRepository says that a project's file is above the repository.
func ProjectAboveRepository(root string) string {
	return Sentences("it is above the root of the repository, "+root, ownSettings)
}

// ProjectAboveHome says that a project's file is above the home directory.
func ProjectAboveHome() string { return Sentences("it is above your home directory", ownSettings) }

const ownSettings = "put settings for all projects in your own config.toml"

// ThrottlesBounded says that waits for limits do not count as retries. starts is how often a command may start; 0 is as often as the time
// for waits allows.
func ThrottlesBounded(starts int) string {
	if starts > 0 {
		return fmt.Sprintf("do not count as retries; at most %d starts in all", starts)
	}
	return "do not count as retries; only the total wait is limited"
}
