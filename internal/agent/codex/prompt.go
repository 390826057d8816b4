package codex

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxChars is the most that codex takes as a prompt.
const maxChars = 1 << 20

// combine puts a prompt and what was piped in together as codex does.
func combine(prompt, stdin string) string {
	if strings.TrimSpace(stdin) == "" {
		return prompt
	}
	if !strings.HasSuffix(stdin, "\n") {
		stdin += "\n"
	}
	return prompt + "\n\n<stdin>\n" + stdin + "</stdin>"
}

// checkSize returns an error if codex would refuse a prompt for its length.
func checkSize(prompt string) error {
	if len(prompt) <= maxChars || isUTF16(prompt) {
		return nil
	}
	if n := utf8.RuneCountInString(strings.TrimPrefix(prompt, "\ufeff")); n > maxChars {
		return fmt.Errorf("codex takes a prompt of at most %s characters and this one has %s; put it into a file and name the file in the prompt",
			commas(maxChars), commas(n))
	}
	return nil
}

// isUTF16 reports whether text says so itself. Codex can read it, we cannot count it.
func isUTF16(text string) bool {
	return strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff")
}

// commas writes a number as a reader wants it: 1,048,576.
func commas(n int) string {
	digits := strconv.Itoa(n)
	var b bytes.Buffer
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
