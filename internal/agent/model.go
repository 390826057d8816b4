package agent

import (
	"regexp"
	"strings"
	"sync"
)

// ModelUse says which model works in the main thread of an agent: what sub-agents use, or what makes up a title, is not in it.
type ModelUse struct {
	// Begun is the model that the CLI names at its start; empty if it has named none, or a name that only its service knows.
	Begun string
	// Used is the one that answers, or that the CLI says takes the place of Begun; empty before that.
	Used string
	// Overloaded says that, by the CLI's word, Used works because Begun could not take the request for the time being.
	Overloaded bool
}

// Answer takes note of the model that answers.
func (u *ModelUse) Answer(model string) {
	if model != "" && model != u.Used {
		u.Used, u.Overloaded = model, false
	}
}

// Other reports whether another model works than the one with that name.
func (u ModelUse) Other(name string) bool {
	return name != "" && u.Used != "" && !SameModel(name, u.Used)
}

// IsModelAlias reports whether a name leaves it to the CLI which model it is: sonnet, default, auto-gemini-3. The name of a model has a number.
func IsModelAlias(name string) bool {
	return !strings.ContainsAny(name, "0123456789") || strings.HasPrefix(name, "auto") || strings.HasPrefix(name, "arn:")
}

// spelling is what services and CLIs add to a vendor's name of a model: anthropic/ and us.anthropic. before it, -v1:0, [1m] and -latest behind it. edition is
// what one name may have at its end and another name of the same model not: its release, the variant of a gateway.
var spelling, edition = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.*/)?(([a-z-]+\.)?anthropic\.)?|(\[\w+\]|-v\d+:\d+|-latest)+$`)
}), sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(-preview|-exp|-0|-\d{3,4}|-\d\d-\d\d|-\d\d-20\d\d|-20\d{6}|-20\d\d-\d\d-\d\d|:\w+)+$`)
})

// SameModel reports whether two names may be those of one model. An alias may be that of any.
func SameModel(a, b string) bool {
	if a == b || IsModelAlias(a) || IsModelAlias(b) {
		return true
	}
	a, b = plainModel(a), plainModel(b)
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, ok := strings.CutPrefix(b, a)
	return ok && (rest == "" || edition().MatchString(rest))
}

func plainModel(name string) string {
	return strings.NewReplacer("@", "-", ".", "-").Replace(spelling().ReplaceAllString(strings.ToLower(name), ""))
}
