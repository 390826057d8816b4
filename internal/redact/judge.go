package redact

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The functions of this file say whether what a [rule] has found is a credential.

// made, drawn, shortDrawn and longDrawn take what is no word, from the weakest to the strongest suspicion.
func made(_, text string) bool  { return isOpaque(text) }
func drawn(_, text string) bool { return isDrawn(text) }
func shortDrawn(_, text string) bool {
	return isOpaque(text) && !IsUUID(text) && !isSourceFile(text) && !allDigits(text) && !strings.HasPrefix(text, "0x") && !strings.ContainsAny(text, "=") && !strings.Contains(text, "://")
}
func longDrawn(_, text string) bool {
	return len(text) >= 12 && run(text, 0, urlish, 12) == 12 && isDrawn(text) && strings.IndexByte(text, '@') < 0
}

// random takes what was drawn for sure: the member may hold anything.
func random(_, text string) bool { return isDrawn(text) && (isRandomCut(text) || mixedCase(text)) }

// isDrawn reports whether a value looks as if a program has drawn it.
func isDrawn(text string) bool {
	return len(text) >= 8 && isOpaque(text) && !IsUUID(text) && !isID(text) && !strings.Contains(text, "://")
}

// userInfo: a password, or a token in the place of the user.
func userInfo(_, text string) bool {
	return strings.Contains(text, ":") || len(text) >= 24 || len(text) >= 12 && isOpaque(text)
}

// noPort: host:8080/path@x has none.
func noPort(_, text string) bool {
	n := run(text, 0, digits, 6)
	return n == 0 || n == len(text) || strings.IndexByte("/?#", text[n]) < 0
}

// login: user:password, and not a prefix of something else that has a colon and an @.
func login(before, text string) bool {
	user, found := strings.CutSuffix(before, ":")
	n := len(user)
	for n > 0 && (dotted.has(user[n-1]) || user[n-1] == '+') {
		n--
	}
	if !found || n == len(user) || n > 0 && strings.IndexByte(":@/", user[n-1]) >= 0 || len(text) < 2 || isMeasure(text) || strings.Contains(text, "(") {
		return false
	}
	switch strings.ToLower(user[n:]) {
	case "mailto", "to", "from", "cc", "bcc", "email", "e-mail", "author", "by", "npm", "workspace", "file", "link", "patch", "sip", "xmpp", "acct", "git", "github", "pkg", "user", "contact":
		return false
	}
	return true
}

// strictLogin: where the host may be anything, the user or the password must look like one.
func strictLogin(before, text string) bool {
	if !login(before, text) {
		return false
	}
	user := before[:len(before)-1]
	switch strings.ToLower(user[strings.LastIndexAny(user, " \t\"'(=,")+1:]) {
	case "root", "admin", "administrator", "postgres", "sa", "guest", "sys", "system", "oracle", "mysql", "ubuntu", "ec2-user", "deploy":
		return true
	}
	return isOpaque(text) && !isFileName(text) && !isHash(text)
}

// noPath: a/b@c is a login where a program expects one, but /etc/x@c is a file.
func noPath(before, text string) bool { return !strings.HasSuffix(before, "./") && len(text) >= 3 }

// secretParameter: one of the parameters is an answer or a key, and not only the name of a realm.
func secretParameter(_, text string) bool {
	names := []string{"response=", "mac=", "signature=", "token=", "hash=", "key=", "secret=", "digest=", "nonce=", "credential=", "sig="}
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(strings.ToLower(text), name) })
}

// noSentence: behind an option, or the words before a password, the sentence may go on.
func noSentence(before, text string) bool {
	return strings.HasSuffix(before, `"`) || strings.HasSuffix(before, "'") || !isSentenceWord(text) && text[0] != '-'
}

func noOption(_, text string) bool { return text[0] != '-' }

// noUserID: docker run -u 1000:1000 names a user and a group.
func noUserID(before, text string) bool {
	user := before[strings.LastIndexAny(before, " \t\"'=")+1:]
	return !strings.HasPrefix(text, "//") && !(allDigits(strings.TrimSuffix(user, ":")) && allDigits(text))
}

// noProperty: msbuild /p:Configuration=Release sets a property, and /p: may be part of a path.
func noProperty(before, text string) bool {
	option := strings.TrimRight(before, " ")
	n := strings.LastIndexAny(option, "/-")
	return n > 0 && (isSpace(before[n-1]) || isQuote(before[n-1])) && !strings.Contains(text, "=") && !isSentenceWord(text) && !allDigits(text)
}

// gluedPassword: -pKq7vX2mPz9 is a password, -pthread, -p2222 and -p 80 are none.
func gluedPassword(before, text string) bool {
	option := strings.TrimRight(before, `"'`)
	n := len(option) - len("-p")
	return strings.HasSuffix(option, "-p") && (n == 0 || isSpace(option[n-1]) || isQuote(option[n-1]) || option[n-1] == '[') &&
		(len(option) < len(before) && text[0] != ',' || len(text) >= 5 && isOpaque(text) && !strings.Contains(text, "="))
}

// bySeed returns phrases that wallets are recovered by: twelve words and more, of three to eight small letters, none of which is one
// that sentences are held together by.
func bySeed(s string) (found []span) {
	if strings.Count(s, " ") < minSeed-1 {
		return nil
	}
	n, last := 0, span{}
	for _, m := range smallWord().FindAllStringIndex(s, -1) {
		w := span{m[0], m[1]}
		if n == 0 || strings.Trim(s[last.to:w.from], " ,\"'") != "" {
			n, last = 0, w
		}
		if text := s[w.from:w.to]; len(text) < 3 || len(text) > 8 || isSentenceWord(text) || isJoint(text) {
			n = 0
			continue
		}
		last.to = w.to
		if n++; n == minSeed {
			found = append(found, last)
		} else if n > minSeed {
			found[len(found)-1] = last
		}
	}
	return found
}

var smallWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[a-z]+\b`) })

// minSeed is the number of words of the shortest phrase.
const minSeed = 12

// isJoint reports whether a word holds a sentence together. None of these is in the list of words for phrases.
func isJoint(word string) bool {
	switch word {
	case "and", "are", "been", "being", "but", "could", "did", "does", "each", "either", "else", "for", "from", "had", "has", "have", "her", "here", "him", "his", "how", "into", "its", "more", "most", "must", "not",
		"now", "out", "over", "same", "she", "should", "some", "such", "than", "the", "their", "them", "then", "these", "they", "those", "too", "until", "was", "were", "what", "when", "where", "which",
		"while", "who", "why", "will", "with", "would", "you", "your":
		return true
	}
	return false
}
