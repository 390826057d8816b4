package redact

import (
	enc "encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
)

// Known is what one run is known to keep secret: values of its environment and command line that are credentials by their names
// or their looks, and its prompt. They are taken out of a text wherever they stand in it, besides what [Text] takes out. A nil
// Known is that of this process: its environment and its command line.
//
// Nothing is looked at before the first text is: a run that succeeds has none.
type Known struct {
	// Env and Args are the environment and the command line of the run.
	Env, Args []string
	// Prompt returns what the run was asked, in as many pieces as it was given; nil means nothing. It is called for each text,
	// since a prompt may come later.
	Prompt func() []string
	// Quoted returns texts that a message may quote for good reasons, such as the arguments of a tool: only longer quotes of
	// several words are taken out of it, and the credentials in them.
	Quoted func() []string

	once   sync.Once
	values []string

	mu     sync.Mutex
	quotes []quote
}

// quote is a prompt, or a text that may be quoted, with the credentials in it, and without spaces and escapes.
type quote struct {
	text   string
	values []string
	flat   []byte
}

// maxQuotes is how many prompts are remembered.
const maxQuotes = 8

// quoteOf is what is known of a prompt, which is gone through once: it may be long, and each line of the log has several texts.
func (k *Known) quoteOf(text string) quote {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, q := range k.quotes {
		if q.text == text {
			return q
		}
	}
	q := quote{text, collectText(nil, text), normalise(text, false).flat}
	if len(k.quotes) == maxQuotes {
		k.quotes = k.quotes[1:]
	}
	k.quotes = append(k.quotes, q)
	return q
}

// process is what is known of this process.
var process Known

// Text replaces what is known and what looks like a credential, as [Text] does.
func (k *Known) Text(s string) string {
	if len(s) < minText {
		return s
	}
	if k == nil {
		k = &process
		k.once.Do(func() { k.values = collect(os.Environ(), os.Args) })
	}
	k.once.Do(func() { k.values = collect(k.Env, k.Args) })
	s = withoutValues(s, k.values)
	if k.Prompt != nil {
		for _, text := range k.Prompt() {
			s = k.withoutQuote(s, text, true)
		}
	}
	if k.Quoted != nil {
		for _, text := range k.Quoted() {
			s = k.withoutQuote(s, text, false)
		}
	}
	return Text(s)
}

func (k *Known) withoutQuote(s, prompt string, lines bool) string {
	q := k.quoteOf(prompt)
	return withoutValues(withoutPrompt(s, q, lines), q.values)
}

const (
	// minValue is the length of the shortest value that is taken out wherever it stands, and minShort of one that is only
	// where it stands as a word of its own.
	minValue = 8
	minShort = 5
	// maxScan bounds how much of a prompt, of an argument or of a variable is searched for credentials.
	maxScan = 256 << 10
)

// collect returns the credentials in an environment and a command line, the longest first.
func collect(env, args []string) (values []string) {
	for _, kv := range env {
		name, text, _ := strings.Cut(kv, "=")
		if NamesSecret(name) {
			values = add(values, text)
			continue
		}
		values = collectText(values, kv)
	}
	for i, arg := range args {
		name, text, joined := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch {
		case joined && NamesSecret(name):
			values = add(values, text)
		case strings.HasPrefix(arg, "-") && NamesSecret(name) && i+1 < len(args):
			values = add(values, args[i+1])
		case i > 0 && (args[i-1] == "-u" || args[i-1] == "--user" || args[i-1] == "--proxy-user"):
			if _, password, ok := strings.Cut(arg, ":"); ok && !allDigits(password) {
				values = add(values, password)
			}
		default:
			values = collectText(values, arg)
		}
	}
	slices.SortStableFunc(values, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(values)
}

// collectText adds the credentials that are recognised in a text.
func collectText(values []string, text string) []string {
	text = text[:min(len(text), maxScan)]
	for _, p := range scan(text) {
		values = add(values, text[p.from:p.to])
		if _, password, ok := strings.Cut(text[p.from:p.to], ":"); ok && strings.HasPrefix(text[p.to:], "@") { // of a URL
			values = add(values, password)
		}
	}
	return values
}

// add adds a value, and its lines if it has several. What is a path, a word such as true, or a small number is left out: it
// would be taken out of everything.
func add(values []string, text string) []string {
	text = strings.TrimSpace(text)
	if strings.Contains(text, "\n") {
		for line := range strings.Lines(text) {
			values = add(values, line)
		}
	}
	if len(text) < minShort || isPlaceholder(text) || isPath(text) || len(text) < minValue && !isOpaque(text) {
		return values
	}
	return append(values, text)
}

// withoutValues takes values out of a text: as they are, as JSON and a URL have them, and in base64.
func withoutValues(s string, values []string) string {
	for _, v := range values {
		if len(v) < minValue {
			s = withoutWord(s, v)
			continue
		}
		s = withoutCut(strings.ReplaceAll(s, v, Marker), v)
		for _, form := range forms(v) {
			if form != v {
				s = strings.ReplaceAll(s, form, Marker)
			}
		}
	}
	return s
}

// forms are the ways in which a value is written that has other characters than letters and digits, and its base64.
func forms(v string) []string {
	list := []string{strings.TrimRight(enc.StdEncoding.EncodeToString([]byte(v)), "="), enc.RawURLEncoding.EncodeToString([]byte(v))}
	if strings.IndexFunc(v, func(r rune) bool { return r >= 0x80 || !isWord(byte(r)) }) < 0 {
		return list
	}
	quoted, _ := json.Marshal(v) // a string always has a form
	once := string(quoted[1 : len(quoted)-1])
	again, _ := json.Marshal(once)
	return append(list, once, string(again[1:len(again)-1]), strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(v), percentEncoded(v))
}

// percentEncoded is a value as the query of a URL has it. net/url would do, but is not linked otherwise.
func percentEncoded(v string) string {
	var b strings.Builder
	for i := range len(v) {
		if c := v[i]; isWord(c) || c == '-' || c == '.' || c == '~' {
			b.WriteByte(c)
		} else {
			const figures = "0123456789ABCDEF"
			b.WriteByte('%')
			b.WriteByte(figures[c>>4])
			b.WriteByte(figures[c&15])
		}
	}
	return b.String()
}

// withoutWord takes a short value out where it stands as a word of its own.
func withoutWord(s, v string) string {
	for at := 0; ; {
		n := strings.Index(s[at:], v)
		if n < 0 {
			return s
		}
		n += at
		end := n + len(v)
		if n > 0 && isWord(s[n-1]) && isWord(v[0]) || end < len(s) && isWord(s[end]) && isWord(v[len(v)-1]) {
			at = n + 1
			continue
		}
		s = s[:n] + Marker + s[end:]
		at = n + len(Marker)
	}
}

// withoutCut takes out what is left of a value where a text was cut off in the middle of it: at its beginning or its end, or
// at dots.
func withoutCut(s, v string) string {
	at := 0
	for range maxCuts {
		dots := nextDots(s[at:])
		end := at + dots.from
		for n := min(len(v)-1, end-at); n >= minValue; n-- {
			if strings.HasSuffix(s[at:end], v[:n]) {
				s = s[:end-n] + Marker + s[end:]
				end += len(Marker) - n
				break
			}
		}
		at = end + dots.to - dots.from
		for n := len(v) - 1; n >= minValue; n-- {
			if strings.HasPrefix(s[at:], v[len(v)-n:]) {
				s = s[:at] + Marker + s[at+n:]
				break
			}
		}
		if dots.from == dots.to {
			break
		}
	}
	for n := len(v) - 1; n >= minValue; n-- {
		if strings.HasPrefix(s, v[len(v)-n:]) {
			return Marker + s[n:]
		}
	}
	return s
}

// maxCuts is how many dots of a text are looked at.
const maxCuts = 64

// nextDots is where a text has its first … or ..., or its end if there are none.
func nextDots(s string) span {
	from, length := len(s), 0
	for _, dots := range [...]string{"…", "..."} {
		if n := strings.Index(s, dots); n >= 0 && n < from {
			from, length = n, len(dots)
		}
	}
	return span{from, from + length}
}
