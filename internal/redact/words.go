package redact

import "strings"

// isOpaque reports whether a value looks made up: letters and digits mixed, capitals in the middle of a word, or signs that
// no word has. What names a number, a time, a version, a file or an address is not opaque.
func isOpaque(text string) bool {
	if len(text) < 5 || isPath(text) || isMeasure(text) {
		return false
	}
	letters, figures, signs, switches := 0, 0, 0, 0
	for i := range len(text) {
		b := text[i]
		switch {
		case isDigit(b):
			figures++
		case isAlpha(b):
			letters++
		case b >= 0x80:
			letters++
		case strings.IndexByte("!#$%^&*+=~?@|", b) >= 0:
			signs++
		}
		if i > 0 && (isDigit(b) != isDigit(text[i-1]) || isLower(text[i-1]) && isUpper(b)) && isAlnum(b) && isAlnum(text[i-1]) {
			switches++
		}
	}
	switch {
	case letters > 0 && figures > 0 && (switches > 1 || figures > 1 || len(text) < 12):
		return !isFileName(text)
	case signs > 0 && letters+figures > 3 && strings.IndexByte("!?=", text[len(text)-1]) < 0:
		return true
	case figures == len(text):
		return len(text) >= 6
	case switches > 0 && len(text) >= 12:
		return isRandom(text) || mixedCase(text) || isRandomCut(text)
	case switches > 0 && len(text) >= 8:
		return isRandomCut(text)
	}
	return len(text) >= minRandom && isRandom(text)
}

// mixedCase reports whether capitals are spread over a word as in no camelCase: one of them follows each other letter.
func mixedCase(text string) bool {
	switches := 0
	for i := 1; i < len(text); i++ {
		if isLower(text[i-1]) && isUpper(text[i]) {
			switches++
		}
	}
	return switches*4 >= len(text)
}

// isMeasure reports whether a text is a number with a unit, a version, a date or an address.
func isMeasure(text string) bool {
	text = strings.TrimLeft(text, "v=<>~^$(")
	if text == "" || !isDigit(text[0]) {
		return false
	}
	n := 0
	for n < len(text) && (isDigit(text[n]) || strings.IndexByte(".,:/-+_x%", text[n]) >= 0) {
		n++
	}
	rest := strings.TrimRight(text[n:], ".,;:)")
	if len(rest) > 8 && rest[0] == 'T' && rest[3] == ':' && n == len("2006-01-02") { // a time
		return true
	}
	if len(rest) > 3 {
		return false
	}
	return rest != "" || n < len(text) || strings.IndexByte(text[:n], '.') >= 0 || strings.IndexByte(text[:n], ':') >= 0 || strings.IndexByte(text[:n], '-') >= 0 || n < 6
}

// isFileName reports whether a text is the name of a file or a host, perhaps with a line: main.go:12, api2.example.com.
func isFileName(text string) bool {
	name, _, _ := strings.Cut(text, ":")
	dot := strings.LastIndexByte(name, '.')
	if dot < 1 || dot+1 == len(name) || len(name)-dot > 7 || strings.ContainsAny(name, "!#$%^&*+=~?@|") || mixedCase(name) {
		return false
	}
	if !isSourceFile(name) && strings.Count(name, ".") < 2 {
		return false
	}
	return len(name) < minRandom || !isRandom(name)
}

// isOrdinary reports whether a value is a word as it stands in sentences.
func isOrdinary(text string) bool {
	text = strings.TrimRight(text, ".,:;!?)")
	for i := range len(text) {
		if b := text[i]; !(isLower(b) || i == 0 && isUpper(b) || b == '-' || b == '\'' || b == '/' || b == '_') {
			return allCapitals(text) || isMeasure(text) || strings.HasPrefix(text, "<") || isFileName(text)
		}
	}
	return true
}

func allCapitals(text string) bool {
	return only(text, func(b byte) bool { return isUpper(b) || b == '_' })
}

// isSentenceWord reports whether a word behind an option belongs to a sentence about the option, and is not its value.
func isSentenceWord(text string) bool {
	switch strings.ToLower(strings.TrimRight(text, ".,:;!?)")) {
	case "is", "was", "are", "be", "flag", "flags", "option", "options", "or", "and", "not", "must", "to", "with", "for", "in", "requires", "require", "required", "needs", "given", "cannot", "can", "if",
		"has", "have", "from", "argument", "value", "values", "provided", "missing", "expects", "set", "does", "should", "may", "instead", "as", "a", "an", "the", "when", "on", "without", "before", "after",
		"takes", "specified", "parameter", "use", "but", "will", "would", "that", "which", "than", "empty", "invalid", "via", "of", "at", "by", "only", "no", "needed", "expected", "unless", "also":
		return true
	}
	return false
}

// isPlaceholder reports whether a value stands for one: nothing was given, a variable or an example is named, or it was taken
// out before.
func isPlaceholder(text string) bool {
	switch {
	case text == "", strings.HasPrefix(text, "$") && strings.Count(text, "$") < 3, isExample(text), beginsWithAny(text, placeholders):
		return true
	case len(text) > 20:
		return false
	}
	trimmed := strings.TrimRight(text, ".,;:)}]")
	switch strings.ToLower(trimmed) {
	case "", "true", "false", "null", "nil", "none", "undefined", "empty", "unset", "missing", "not", "yes", "no", "required", "string", "redacted", "hidden", "masked", "(none)", "(empty)", "=", "-", "--":
		return true
	}
	return strings.Trim(trimmed, "*xX•.") == "" || onlyNames(trimmed)
}

// placeholders begin what stands for a value.
var placeholders = []string{Marker, "{{", "***", "%s", "%v", "%q", "...", "…", "process.env", "os.environ", "os.Getenv", "(redacted", "REDACTED"}

// isExample reports whether a value is described in brackets: <your token>.
func isExample(text string) bool {
	inner, ok := strings.CutPrefix(text, "<")
	return ok && !isOpaque(strings.TrimRight(inner, ">.,;:)"))
}

// onlyNames reports whether a value is itself the name of a credential, as in api_key=api_key: a piece of code.
func onlyNames(text string) bool {
	named := only(text, func(b byte) bool { return isAlpha(b) || b == '_' })
	return named && strings.IndexByte(text, '_') > 0 && NamesSecret(text)
}

// firstWord is the word of letters that a text begins with.
func firstWord(text string) string {
	n := 0
	for n < len(text) && isAlpha(text[n]) {
		n++
	}
	return text[:n]
}

func equalFold(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }

func allDigits(text string) bool { return text != "" && only(text, isDigit) }
