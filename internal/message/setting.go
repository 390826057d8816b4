package message

import "fmt"

// UnknownKey says that a key is unknown. keys are those that there are.
func UnknownKey(keys ...string) string { return Sentences("unknown key", "the keys are "+And(keys)) }

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
