package message

import "fmt"

// ProfileBuiltIn says that a file declares a profile that is built in.
func ProfileBuiltIn(name string) string {
	return fmt.Sprintf("%s is built in and cannot be declared. Give yours another name, such as [profile.my-%s]", name, name)
}

// CommandBuiltIn says that a profile is declared for a command that is known already.
func CommandBuiltIn(command string) string {
	return fmt.Sprintf("%s has a profile that is built in", command)
}

// CommandTaken says that two profiles are declared for the same command.
func CommandTaken(command, by string) string {
	return fmt.Sprintf("%s is already the command of [profile.%s]", command, by)
}

// NotAProfileName says that a profile cannot have that name.
func NotAProfileName(name string) string {
	return fmt.Sprintf("%q is not a name for a profile. Use lower-case letters, digits, - and _, beginning with a letter", name)
}

// Missing says that a key is missing.
func Missing() string { return "is missing" }

// MustBeTables says that something else stands where a list of tables should.
func MustBeTables(key string) string {
	return fmt.Sprintf("must be a list of tables, each under its own [[profile.NAME.%s]]", key)
}

// HeadlessMissing says that a profile does not say which command lines it is for.
func HeadlessMissing() string {
	return `is missing. Say which command lines need no person: options = ["-p"], words = true, command = ["run"] or always = true`
}

// OptionNotListed says that a profile uses an option that is not among its options.
func OptionNotListed(option string) string {
	return fmt.Sprintf("%s is not listed in options", option)
}

// NotAnOption says that an option is not written as one.
func NotAnOption(line string) string {
	return fmt.Sprintf("%q is not an option. Write it as its help does: \"-y, --yes\", \"--model NAME\" or \"--resume [ID]\"", line)
}

// NotARung says that a step of stopping a CLI cannot be read.
func NotARung(rung string) string {
	return fmt.Sprintf("%q is not a signal and the time to wait after it, such as \"INT 4s\"", rung)
}

// SessionMarkMissing says that arguments do not say where the id of a session goes.
func SessionMarkMissing() string { return "does not contain {session}, the place of the session's id" }

// NewSessionNeedsUUID says that new sessions can be named only where their ids are UUIDs.
func NewSessionNeedsUUID() string { return "needs sessions whose ids are UUIDs; remove session.id" }

// EventsMissing says that events are asked for which no table explains.
func EventsMissing() string {
	return "needs tables [[profile.NAME.event]] that say what the events mean"
}

// EventWithoutWhen says that a table of events does not say which it is about.
func EventWithoutWhen() string {
	return `is missing. Say which events this is about, such as when = { type = "result" }`
}

// RuleMatchesAll says that a rule has no condition.
func RuleMatchesAll() string {
	return "is missing. Without match, status, exit or signal, the rule would match every failure"
}

// WhichProfile says that no profile was named.
func WhichProfile() string { return "name a profile" }

// ProfileIsBuiltIn says that a profile is not one of the user's file.
func ProfileIsBuiltIn(name string) string { return fmt.Sprintf("%s is built in.", name) }

// SaveOutcome says how a profile is tried on outcomes.
func SaveOutcome(name string) string {
	return fmt.Sprintf("Save an outcome with: belay explain --profile %s --exit-code 1 --stdout out.txt --stderr err.txt --save outcomes.jsonl. "+
		"Then try the profile with: belay profile check %s outcomes.jsonl", name, name)
}

// NoOutcomes says that files hold no saved outcome of a profile.
func NoOutcomes(name string) string { return fmt.Sprintf("there are no saved outcomes of %s", name) }

// InFile says that something is wrong with a file.
func InFile(path string, err error) string { return fmt.Sprintf("%s: %v", path, err) }

// OutcomesChecked says how many verdicts are as expected.
func OutcomesChecked(n, differ int) string {
	switch {
	case differ > 0:
		return fmt.Sprintf("Not as expected: %d of %s.", differ, count(n, "verdict"))
	case n == 1:
		return "The verdict is as expected."
	}
	return fmt.Sprintf("All %d verdicts are as expected.", n)
}
