package price

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// vendorPrefix stands before the model's own name where a service offers those of several vendors: anthropic/ and openai/
	// of gateways, us.anthropic. of Bedrock, models/ of Google.
	vendorPrefix = regexp.MustCompile(`^(?:[a-z-]+\.)?anthropic\.|^(?:[a-z0-9._-]+/)+`)
	// release is what a service puts behind the model's name: the context that was asked for ([1m]), Bedrock's version (-v1:0),
	// and the day of the release (-20250929, @20250929, -2025-08-07), which the vendor's price list does not have.
	contextSuffix = regexp.MustCompile(`\[\w+\]$`)
	bedrockSuffix = regexp.MustCompile(`-v\d+(?::\d+)?(?::\w+)?$`)
	dateSuffix    = regexp.MustCompile(`[-@](?:20\d{6}|20\d\d-\d\d-\d\d)$`)
	latestSuffix  = regexp.MustCompile(`[-@]latest$`)
)

// spellings are the names under which a model may be in a price list, the one that was given first. Only what is known to
// mean the same model is taken off: a name that merely begins like another is another model.
func spellings(model string) []string {
	names := []string{model}
	name := strings.ToLower(strings.TrimSpace(model))
	for _, part := range []*regexp.Regexp{nil, contextSuffix, vendorPrefix, bedrockSuffix, dateSuffix, latestSuffix} {
		if part != nil {
			name = part.ReplaceAllString(name, "")
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
