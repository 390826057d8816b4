package budget

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Joined is a budget that a run joins.
type Joined struct {
	Name string
	// Terms are given with the name; nil means those that it has.
	Terms *Terms
}

// Parse reads a budget as it is named on a command line: "nightly", or "nightly=5/day", which also sets its limit.
func Parse(text string) (Joined, error) {
	name, limit, hasLimit := strings.Cut(strings.TrimSpace(text), "=")
	j := Joined{Name: strings.TrimSpace(name)}
	if err := CheckName(j.Name); err != nil {
		return j, err
	}
	if !hasLimit {
		return j, nil
	}
	usd, window, hasWindow := strings.Cut(limit, "/")
	amount, err := ParseUSD(strings.TrimSpace(usd))
	if err != nil {
		return j, err
	}
	if !hasWindow {
		return j, fmt.Errorf("%q has no window: write %s/day, %s/week or %s/month", limit, usd, usd, usd)
	}
	w, err := ParseWindow(strings.TrimSpace(window))
	j.Terms = &Terms{Limit: amount, Window: w}
	return j, err
}

// String is the budget as Parse reads it.
func (j Joined) String() string {
	if j.Terms == nil {
		return j.Name
	}
	return fmt.Sprintf("%s=%s/%s", j.Name, strconv.FormatFloat(j.Terms.Limit, 'f', -1, 64), j.Terms.Window)
}

// ParseUSD reads an amount of US dollars above 0, with or without the sign.
func ParseUSD(text string) (float64, error) {
	usd, err := strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
	if err != nil || math.IsNaN(usd) || usd <= 0 || usd > 1e9 {
		return 0, fmt.Errorf("%.40q is not an amount of US dollars above 0, such as 0.50", text)
	}
	return usd, nil
}
