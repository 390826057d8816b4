package price

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// additions are what services add to a vendor's own name for a model, in the order in which they are taken off. They are
// compiled when the first price is needed.
var additions = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`\[\w+\]$`),                                       // the context that was asked for: [1m]
		regexp.MustCompile(`^(?:[a-z-]+\.)?anthropic\.|^(?:[a-z0-9._-]+/)+`), // the vendor: us.anthropic. of Bedrock, openai/ of gateways, models/ of Google
		regexp.MustCompile(`-v\d+(?::\d+)?(?::\w+)?$`),                       // Bedrock's version: -v1:0
		regexp.MustCompile(`[-@](?:20\d{6}|20\d\d-\d\d-\d\d)$`),              // the day of the release, which price lists do not have
		regexp.MustCompile(`[-@]latest$`),
	}
})

// spellings are the names under which a model may be in a price list, the one that was given first. Only what is known to
// mean the same model is taken off: a name that merely begins like another is another model.
func spellings(model string) []string {
	names := []string{model}
	name := strings.ToLower(strings.TrimSpace(model))
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	add(name)
	for _, addition := range additions() {
		name = addition.ReplaceAllString(name, "")
		add(name)
	}
	return names
}
