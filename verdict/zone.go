package verdict

import (
	"slices"
	"strings"
	"time"
)

// zone is the time zone of a clock time: one that the text names, or now's.
type zone struct {
	loc   *time.Location
	named bool
}

// zoneAfter reads the zone that follows a clock time: "(Europe/Berlin)",
// " America/New_York", "Z", "+02:00", " UTC", " PST", "(UTC+2)". It is not ok if
// a zone is named that is not known here, or if the time goes on in a way that
// makes it something else.
func zoneAfter(rest string, now time.Time) (zone, bool) {
	local := zone{loc: now.Location()}
	inner := strings.TrimLeft(rest, " \t")
	if after, found := strings.CutPrefix(inner, "("); found {
		name, _, closed := strings.Cut(after[:min(len(after), maxName)], ")")
		if !closed || strings.ContainsAny(name, " \n") || foldEqual(name, "local") {
			return local, true // a remark: "(in 2 hours)", "(local time)"
		}
		loc := location(name)
		return zone{loc, true}, loc != nil
	}
	word := zoneWord(inner)
	if loc := location(word); loc != nil {
		return zone{loc, true}, ends(inner[len(word):])
	}
	if looksLikeZone(word) {
		return zone{}, false
	}
	return local, ends(rest)
}

// zoneWord returns the word that s starts with, signs, slashes and digits
// included, as zones have them.
func zoneWord(s string) string {
	end := 0
	for end < len(s) && end < maxName && (isNameByte(s[end]) || strings.IndexByte("/+:", s[end]) >= 0) {
		end++
	}
	return strings.TrimRight(s[:end], ":-/+")
}

// looksLikeZone tells an unknown abbreviation, "IST", or region from the next
// word of a sentence.
func looksLikeZone(word string) bool {
	if len(word) < 3 || strings.ToUpper(word[:1]) != word[:1] {
		return false
	}
	return strings.Contains(word, "/") || len(word) <= 5 && strings.ToUpper(word) == word && word[len(word)-1] == 'T'
}

// abbreviations are those whose meaning is not in doubt where these CLIs are
// written. IST is Indian, Irish and Israeli, and so is missing.
var abbreviations = [...]struct {
	name  string
	hours int
}{
	{"UTC", 0}, {"GMT", 0}, {"Z", 0},
	{"PST", -8}, {"PDT", -7}, {"MST", -7}, {"MDT", -6},
	{"CST", -6}, {"CDT", -5}, {"EST", -5}, {"EDT", -4},
	{"WET", 0}, {"WEST", 1}, {"BST", 1}, {"CET", 1}, {"CEST", 2}, {"EET", 2}, {"EEST", 3},
	{"JST", 9}, {"KST", 9}, {"AEST", 10}, {"AEDT", 11},
}

// location returns the zone of that name, or nil if it is not known. Only names
// with a slash are looked up in the zone database, which may be missing.
func location(name string) *time.Location {
	for _, a := range abbreviations {
		if a.name == name {
			return fixed(a.name, a.hours*3600)
		}
	}
	if strings.Contains(name, "/") {
		if loc, err := time.LoadLocation(name); err == nil {
			return loc
		}
		return nil
	}
	offset := strings.TrimPrefix(strings.TrimPrefix(name, "UTC"), "GMT")
	for _, layout := range [...]string{"-07:00", "-0700", "-07"} {
		if t, err := time.Parse(layout, pad(offset)); err == nil {
			_, seconds := t.Zone()
			return fixed(name, seconds)
		}
	}
	return nil
}

func fixed(name string, seconds int) *time.Location {
	if seconds == 0 {
		return time.UTC
	}
	return time.FixedZone(name, seconds)
}

// pad turns "+2" into "+02".
func pad(offset string) string {
	if len(offset) == 2 {
		return offset[:1] + "0" + offset[1:]
	}
	return offset
}

// instants returns when clocks in loc show the date and time of wall, which is
// given in UTC: usually once, twice in the hour that is repeated when clocks go
// back (the earlier first), and in the hour that is skipped when they go
// forward the moment at which they would have shown it without that. RFC 5545
// reads skipped times the same way; [time.Date] leaves it open.
func instants(wall time.Time, loc *time.Location) []time.Time {
	// Offsets lie between -12 h and +14 h, so these bracket the moment meant.
	before := offsetAt(wall.Add(-15*time.Hour), loc)
	after := offsetAt(wall.Add(13*time.Hour), loc)
	var at []time.Time
	for _, offset := range [...]time.Duration{before, after} {
		t := wall.Add(-offset).In(loc)
		if offsetAt(t, loc) == offset && !slices.ContainsFunc(at, t.Equal) {
			at = append(at, t)
		}
	}
	if at == nil {
		return []time.Time{wall.Add(-before).In(loc)}
	}
	return at
}

func offsetAt(t time.Time, loc *time.Location) time.Duration {
	_, seconds := t.In(loc).Zone()
	return time.Duration(seconds) * time.Second
}
