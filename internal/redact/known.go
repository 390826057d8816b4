package redact

import (
	"bytes"
	enc "encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// Known is what one run is known to keep secret: values of its environment and command line that are credentials by their names
// or their looks, and its prompt. They are taken out of a text wherever they stand in it, besides what [Text] takes out. A nil
// Known knows the secrets of this process: its environment and its command line.
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
	values []needle

	mu     sync.Mutex
	quotes []quote
}

// quote is a prompt, or a text that may be quoted, with the credentials in it, and without spaces and escapes.
type quote struct {
	text   string
	values []needle
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
	q := quote{text, needles(collectText(nil, text)), flat(text, true).text}
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
		k.once.Do(func() { k.values = needles(collect(os.Environ(), os.Args)) })
	}
	k.once.Do(func() { k.values = needles(collect(k.Env, k.Args)) })
	var asked, quoted []string
	if k.Prompt != nil {
		asked = k.Prompt()
	}
	if k.Quoted != nil {
		quoted = k.Quoted()
	}
	if len(k.values)+len(asked)+len(quoted) == 0 {
		return Text(s)
	}
	t := flatText{view: flat(s, false), s: s}
	t.hide = make([]bool, len(t.text))
	t.markValues(k.values)
	for _, text := range asked {
		t.markQuote(k.quoteOf(text), true)
	}
	for _, text := range quoted {
		t.markQuote(k.quoteOf(text), false)
	}
	return Text(replace(s, t.spans()))
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
	values = collectText(values, commandLine(args))
	for i, arg := range args {
		name, text, joined := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch {
		case joined && NamesSecret(name):
			values = add(values, text)
		case strings.HasPrefix(arg, "-") && NamesSecret(name) && i+1 < len(args):
			values = add(values, args[i+1])
		}
	}
	slices.SortStableFunc(values, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(values)
}

// commandLine is a command line on which the words are told apart as in a shell.
func commandLine(args []string) string {
	var b strings.Builder
	for i, arg := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		if strings.ContainsAny(arg, " \t\n\"'") && !strings.ContainsAny(arg, "\n") && len(arg) < maxValue {
			fmt.Fprintf(&b, "%q", arg)
		} else {
			b.WriteString(arg)
		}
	}
	return b.String()
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

// needle is a value as it is looked for.
type needle struct {
	flat   string
	word   bool     // short: only where it stands as a word of its own
	base64 []string // what it becomes in base64, whatever stands around it
}

// needles are the values in the form in which they are looked for.
func needles(values []string) (list []needle) {
	for _, v := range values {
		if text := string(flat(v, true).text); len(text) >= minShort {
			list = append(list, needle{text, len(text) < minValue, inBase64(v)})
		}
	}
	return list
}

// inBase64 is what is sure to stand in the base64 of a text with the value in it, which depends on how many bytes are before it.
func inBase64(v string) (list []string) {
	if len(v) < minValue {
		return nil
	}
	v = v[:min(len(v), maxEncoded)]
	for before := range 3 {
		text := enc.RawStdEncoding.EncodeToString([]byte("  "[:before] + v))
		text = text[(before*8+5)/6 : (before+len(v))*8/6]
		list = append(list, strings.ReplaceAll(text, "+", "")) // a view has none
		if url := strings.NewReplacer("+", "-", "/", "_").Replace(text); url != text {
			list = append(list, url)
		}
	}
	return list
}

// maxEncoded is how much of a value is looked for in base64.
const maxEncoded = 64

// markValues marks values, and what is left of one where the text was cut off: at its beginning or end, or at dots.
func (t *flatText) markValues(values []needle) {
	for _, v := range values {
		t.markEach(v.flat, v.word)
		if !v.word {
			t.markCut(v.flat, true)
		}
		for _, text := range v.base64 {
			t.markEncoded(text)
		}
	}
}

// markEncoded marks the words of base64 that a text is in.
func (t *flatText) markEncoded(part string) {
	for at := 0; ; {
		n := bytes.Index(t.text[at:], []byte(part))
		if n < 0 {
			return
		}
		from, to := at+n, at+n+len(part)
		for from > 0 && base64.has(t.text[from-1]) && !t.gap[from] {
			from--
		}
		for to < len(t.text) && base64.has(t.text[to]) && !t.gap[to] {
			to++
		}
		t.mark(from, to)
		at = to
	}
}
