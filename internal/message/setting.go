package message

import "fmt"

// InVariable says that the value of an environment variable is wrong.
func InVariable(name string, err error) string {
	return fmt.Sprintf("environment variable %s: %v", name, err)
}

// CannotRead says that a file cannot be read.
func CannotRead(err error) string { return fmt.Sprintf("cannot be read: %v", err) }

// UserFileDenied is why the user's own file is ignored.
func UserFileDenied() string { return "it cannot be reached: permission denied" }

// UnknownKey says that a key is unknown. keys are those that there are.
func UnknownKey(keys ...string) string { return sentences("unknown key", "the keys are "+and(keys)) }

// UnknownSetting says that a key is not that of a setting. near, if not empty, is the one that may be meant.
func UnknownSetting(near string) string { return "unknown key" + DidYouMean(near) }

// UnknownRuleKey says that a rule has a key that is unknown.
func UnknownRuleKey(key string, line int) string {
	return fmt.Sprintf("unknown key %s in line %d", key, line)
}

// RuleWithoutName says that a rule has no name.
func RuleWithoutName(n int) string { return fmt.Sprintf("rule %d has no name", n) }

// OtherName says that a setting is given under two of its names. as is the other one, if that is not key itself.
func OtherName(key, as string, line int) string {
	if as != "" {
		as = " as " + as
	}
	return fmt.Sprintf("this is another name for %s, which is set%s in line %d. Remove one of the two", key, as, line)
}

// NotTogether says that two settings contradict each other.
func NotTogether(a, b string) string { return fmt.Sprintf("%s and %s cannot be used together", a, b) }

// NoValue says that a line of a file has a key and no value.
func NoValue(key string) string {
	return fmt.Sprintf("%s has no value. Write it like this: max_retries = 3", key)
}

// NoQuotes says that a value cannot be read, as it happens to text without quotes.
func NoQuotes(key string) string {
	return fmt.Sprintf("cannot read the value of %s. Put text in quotes, like this: max_wait = \"5m\"", key)
}

// UnreadableLine says that a line of a file cannot be read, and why.
func UnreadableLine(line, why string) string {
	return fmt.Sprintf("cannot read this line: %s (%s). A setting looks like this: max_wait = \"5m\"", line, why)
}

// MustBeTable says that something else stands where a table should. such, if not empty, is an example.
func MustBeTable(such string) string { return withExample("must be a table", such) }

// MustBeList says that a command is not given as a list.
func MustBeList() string {
	return withExample("must be a list", `["notify-send", "belay"]`) + "; no shell reads it"
}

// MustBeBool says that a value is neither true nor false.
func MustBeBool() string { return "must be true or false" }

// MustBePositive says that a duration is zero.
func MustBePositive() string { return "must be longer than 0" }

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

// TwoLimits says that a budget is given two limits.
func TwoLimits(name string) string { return fmt.Sprintf("budget %s has two limits", name) }

// LimitWithoutWindow says that a budget has a limit and no window.
func LimitWithoutWindow() string { return "has a limit but no window (day, week or month)" }

// WithoutLimit says that a budget has a window and no limit.
func WithoutLimit() string { return "has no limit" }

// PriceWithoutName says that a table of prices has no model.
func PriceWithoutName(such string) string { return "has no name; write " + such }

// PriceNotATable says that something else stands where the table of a model should.
func PriceNotATable(such string) string {
	return sentences(MustBeTable(such), "put a name that contains a dot in quotes")
}

// NotAPrice says that a value is not a price.
func NotAPrice(value string) string {
	return fmt.Sprintf("%q is not a price. Give US dollars per million tokens, such as 2.5", value)
}

// PriceMissing says that one of the prices of a model is missing.
func PriceMissing() string {
	return "is missing. Give US dollars per million tokens, such as input = 2.5"
}

// PriceLikeUnknown says that a price is to be that of a model without one.
func PriceLikeUnknown(model string) string {
	return fmt.Sprintf("%q is not in the price list. See: belay prices", model)
}

// PriceLikeAlone says that a price that is that of another model has further keys.
func PriceLikeAlone() string {
	return "cannot be combined with other keys, because the price is that of the other model"
}

// PriceLongAbove says that the size from which on a prompt is long is missing.
func PriceLongAbove() string {
	return "must be the prompt size in tokens from which these rates apply, such as 200000"
}

func withExample(text, such string) string {
	if such == "" {
		return text
	}
	return text + ", such as " + such
}
