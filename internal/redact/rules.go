package redact

import (
	"regexp"
	"strings"
	"sync"
)

// rule finds credentials by what stands around them. A new one is a row of [rules] or [links]; TestRules tries its example.
type rule struct {
	name string // what it is for
	// words are looked for in the text, in small letters. The pattern is tried where one of them stands, and with …, only if what
	// is behind that comes later. It is compiled for the first text that has one, so that others pay nothing for it.
	words string
	// pattern begins with the word, and has any case. Its groups are the credentials; if it has none, the value behind it is one, in
	// quotes or as far as a word goes.
	pattern string
	// is says whether a text is a credential, by what stands before it on its line and by its looks. Nil means that all but
	// placeholders are.
	is func(before, text string) bool
	// example has the credential between « and ».
	example string
}

// rules are the places of credentials. Where a name says that its value is one, that is found by [strengthOf] and [links]; what the
// programs of command lines are given, by [clients].
var rules = [...]rule{
	// Addresses.
	{"URL with a password or a token before the host", `://…@, :\/\/…@`, `:\\*/\\*/([^\s/?#"'<>\x60\\\[\]]+)@`, userInfo, "https://«ann:Kq7vX2mPz9LwT»@host/x"},
	{"password in a URL with a slash in it", `://…@, :\/\/…@`, `:\\*/\\*/[^\s/@:?#"'<>\x60\\\[]*:([^\s"'<>\x60@\\]*[/?#][^\s"'<>\x60@\\]*)@[\w.-]`, noPort, "https://ann:«a/Kq7vX2mPz9LwT»@host"},
	{"user:password@host", `:…@`, `:([^\s:/\\"'\x60,;()<>@][^\s/\\"'\x60@]*(?:@[^\s/\\"'\x60@]*){0,2})@(?:[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}|[\d.]{7,}|localhost|[\w.-]+:\d)`, login, "login failed for ann:«swordfish»@db.example.com"},
	{"user:password@host where the host has no dot", `:…@`, `:([^\s:/\\"'\x60,;()<>@][^\s/\\"'\x60@]*(?:@[^\s/\\"'\x60@]*){0,2})@[a-z][\w-]*`, strictLogin, "login failed for admin:«Kq7vX2mPz9LwT»@db"},
	{"user/password@service of Oracle", `jdbc:oracle:, sqlplus, sqlldr, expdp, impdp, rman, userid=, connect`, `(?:jdbc:oracle:\w+:|userid=|(?:sqlplus|sqlldr|expdp|impdp|rman|connect)\s(?:\s*(?:-\w+|target)\s)*)\s*["']?[\w$#.]+/([^\s"'@/]+)(?:@|["'\s]|$)`, noPath, "jdbc:oracle:thin:scott/«Kq7vX2mPz9LwT»@//db:1521/x"},
	{"webhook", `hooks., discord.com, discordapp.com, webhook.office.com, outlook.office.com, chat.googleapis.com, open.feishu.cn, open.larksuite.com, maker.ifttt.com, events.pagerduty.com, hook.`,
		`[\w.-]+(?::\d+)?\\*/((?:services|triggers|workflows|api(?:\\*/v\d+)?\\*/webhooks|webhookb2|webhook|hooks\\*/catch|v1\\*/spaces|open-apis\\*/bot|trigger|integration|hooks?)\\*/[^\s"'<>\x60]{8,})`, made, "POST https://acme.webhook.office.com/«webhookb2/3f9c1a52-8f0e@4b5a/IncomingWebhook/Kq7vX2mPz9LwT»"},
	{"webhook with one random part", `webhook.site, hook., hooks.`, `(?:webhook\.site|hooks?\.[\w.-]+)\\*/([\w-]{20,})`, made, "https://hook.eu2.make.com/«kq7vx2mpz9lwtkq7vx2mpz9lwt4z8c1a»"},

	{"bot of Telegram", `:aa`, `:(AA[\w-]{28,})`, nil, "https://api.telegram.org/bot8123456789:«AAKq7vX2mPz9LwTKq7vX2mPz9LwTKq7vX2m»/send"},

	// Tokens that are known by what is in them.
	{"application of Azure", `8q~`, `8Q~([\w.~-]{20,})`, nil, "401: abc8Q~«Kq7vX2mPz9LwTKq7vX2mPz9LwTKq7vX2mP»"},
	{"Airtable", `pat`, `(pat[a-z0-9]{14}\.[0-9a-f]{20,})`, nil, "401: «patKq7vX2mPz9LwTz.0123456789abcdef0123456789abcdef»"},

	// HTTP and other protocols.
	{"parameters of HTTP authentication", `digest, hawk, oauth, mac, token, signature, sharedkey, aws4-hmac-sha256, usernametoken, apikey, bearer, dpop`,
		`[\w-]+\s+([\w-]+=(?:\\*"[^"\n]*"|[^\s,"]+)(?:,?\s*[\w-]+=(?:\\*"[^"\n]*"|[^\s,"]+))*)`, secretParameter, `Digest «username="ann", realm="x", response="Kq7vX2mPz9LwT"»`},
	{"answer to a challenge", `nonce=`, `nonce="?[^\s",]*"?,.*?\b(?:response|mac|digest)="?([^\s",]+)`, nil, `realm="x", nonce="y", uri="/", response="«Kq7vX2mPz9LwT»"`},
	{"scheme of HTTP authentication", `bearer, basic, token, apikey, api-key, negotiate, ntlm, sharedkey, sharedkeylite, splunk, geniekey, bot`, `[\w-]+\s+(?:[\w-]{1,40}:)?`, longDrawn, "sent Basic «YW5uOktxN3ZYMm1Qejk=» and was refused"},
	{"login of SMTP, IMAP, FTP and Redis", `auth, login, pass, authenticate`, `(?:auth\\*"?\s+\\*"?(?:plain|login|xoauth2|cram-md5|default)|authenticate\s+\w+|login\s+"?[\w.@-]+"?|auth|pass)\\*"?\s+\\*"?`, drawn, "> AUTH PLAIN «AGFubgBLcTd2WDJtUHo5THdU»"},

	// Languages.
	{"user of a database", `identified, sp_addlogin, sp_password, by key`, `(?:sp_\w+\s+N?'[^']*'\s*,\s*N?|by key\s+|identified\s+(?:with\s+\S+\s+|via\s+\S+\s+)?(?:by|as|using)\s+(?:password\s*\(?|values\s+)?\s*)`, noSentence, "CREATE USER ann IDENTIFIED BY '«Kq7vX2mPz9LwT»'"},
	{"element of XML", `<`, `<[\w:.-]*(?:password|passwd|pwd|secret|token|passphrase|api-?key|privatekey|accesskey)(?:\s[^<>]*[^/<>\s])?\\*>\s*([^<\s][^<]*?)\s*<\\*/`, nil, `<wsse:Password Type="x">«Kq7vX2mPz9LwT»</wsse:Password>`},
	{"pair of a property list", `<key>`, `<key>[^<]*(?:password|passwd|secret|token|passphrase|api-?key)[^<]*</key>\s*<string>([^<]+)<`, nil, "<key>Password</key> <string>«Kq7vX2mPz9LwT»</string>"},
	{"field of a form", `type="password", type='password'`, `type=.password.[^<>]*?\bvalue=`, nil, `<input type="password" name="x" value="«Kq7vX2mPz9LwT»">`},
	{"PowerShell", `convertto-securestring, pscredential, networkcredential`, `(?:convertto-securestring\s+(?:-string\s+|-asplaintext\s+|-force\s+)*|(?:ps|network)credential\s*\(\s*["'][^"']*["']\s*,\s*)`, noOption, "ConvertTo-SecureString '«Kq7vX2mPz9LwT»' -AsPlainText"},
	{"PowerShell, by a pipe", `"…| convertto-securestring`, `"([^"\n]+)"\s*\|\s*convertto-securestring`, nil, `"«Kq7vX2mPz9LwT»" | ConvertTo-SecureString -AsPlainText`},
	{"password in another language", `пароль, 密码, 密碼, パスワード, 비밀번호, contraseña, lösenord, hasło, şifre`, `[\pL]+\s*[:：=]\s*`, nil, "пароль: «Kq7vX2mPz9LwT»"},

	// Files.
	{"line of .pgpass", `:1, :2, :3, :4, :5, :6, :7, :8, :9, :*`, `:(?:\d{4,5}|\*):[\w*.-]*[a-z*_][\w*.-]*:[\w*.@-]+:([^\s:]+)`, made, "db.internal:5432:app:ann:«Kq7vX2mPz9LwT»"},
	{"hash of a password", `$`, `(\$(?:1|2[abxy]?|5|6|7|y|apr1|argon2\w*|pbkdf2[\w-]*|scrypt)\$[^\s:"'\\]{8,})`, nil, "root:«$6$Kq7vX2mP$z9LwTz9LwTz9LwT»:19000:0"},
	{"hash of a password in LDAP", `{ssha, {sha, {crypt, {md5, {smd5`, `\{\w+\}([\w+/=.$]{16,})`, nil, "userPassword {SSHA}«Kq7vX2mPz9LwTKq7vX2mPz9LwT==»"},
	{"hash of a password in Windows", `:aad3b435b51404ee`, `:([0-9a-f]{32}:[0-9a-f]{32})`, nil, "Administrator:500:«aad3b435b51404eeaad3b435b51404ee:31d6cfe0d16ae931b73c59d7e0c089c0»:::"},

	// Command lines.
	{"option with user:password", `-u, -a, --user, --proxy-user, --auth, --creds, --src-creds, --dest-creds, -auth`, `(?:-[ua]|-auth|--(?:proxy-)?user|--auth|--(?:src-|dest-)?creds)(?:\s+|=|\\*["'],?\s*\\*["'])(?:\\*["'])?[^\s:="']*:([^\s"'\\]+)`, noUserID, "curl -u ann:«Kq7vX2mPz9LwT» https://example.com"},
	{"option of a program for Windows", `/p:, /pw:, /rp, /pass:, -p:`, `[/-]\w+:?\s?`, noProperty, "xfreerdp /v:host /u:ann /p:«Kq7vX2mPz9LwT»"},
	{"password behind -p", `-p`, `-p`, gluedPassword, "tool -p«Kq7vX2mPz9LwT» db"},
	{"password behind -p in a list", `-p", -p'`, `-p["'],\s*["']`, drawn, `["tool", "-p", "«Kq7vX2mPz9LwT»"]`},
	{"password for openssl", `pass:`, `pass:`, nil, "openssl rsa -passin pass:«Kq7vX2mPz9LwT» -in key.pem"},
	{"share of Windows", `net use`, `net use\s+(?:\S+:\s+)?\\\\+\S+\s+(?:/\S+\s+)*([^\s/*]\S*)`, nil, `net use \\host\share «Kq7vX2mPz9LwT» /user:ann`},
	{"user of Windows", `net user`, `net user\s+[^\s/]+\s+([^\s/*]\S*)\s+/`, nil, `net user ann «Kq7vX2mPz9LwT» /add`},
	{"login by a pipe", `echo, printf`, `(?:echo|printf)\s+(?:-\w+\s+)*(?:["']?%s(?:\\n)?["']?\s+)?["']?([^\s"'|]+)["']?\s*\|\s*(?:sudo\s+)?(?:\S+\s+(?:\w+\s+){0,2}login|\S+\s.*(?:--password-stdin|--with-token|--stdin|-pass)|sudo -S|kubectl create secret|\S*passwd|kinit|cryptsetup|openssl|gpg|base64)`, nil, "echo «Kq7vX2mPz9LwT» | gh auth login --with-token"},
	{"password of a registry of packages", `http-basic.`, `http-basic\.\S+\s+\S+\s+`, noOption, "composer config http-basic.example.com ann «Kq7vX2mPz9LwT»"},
	{"login by a here string", `<<<`, `<<<\s*`, made, "gh auth login --with-token <<< «Kq7vX2mPz9LwT»"},

	// Sentences in which the key stands first.
	{"key that is spoken of", `key, token, secret, password, credential`, `\w+\s+["'\x60(]*([^\s"'\x60()=]{8,})["'\x60)]*\s+(?:is|was|has|does|did|not|cannot|could|expired|revoked|rejected)\b`, random, "Unauthorized: key «Kq7vX2mPz9LwT» was revoked"},
	{"login that is spoken of", `login, credentials, user`, `(?:login|credentials|user)\s+["'(]*[\w.@-]+/([^\s"'()]{8,})`, drawn, "login ann/«Kq7vX2mPz9LwT» failed"},
	{"member key of JSON", `"key, 'key`, `["']key\\*["']\s*:\s*`, random, `{"key": "«Kq7vX2mPz9LwT»"}`},
	{"key that is not valid", `'…' is, '…' has, '…' was`, `'([^\s']{8,})' (?:is (?:an? )?(?:not (?:an? )?)?(?:\w+ )?(?:valid|invalid|unknown|wrong|expired|revoked|incorrect|bad)|(?:has|was) (?:\w+ )?(?:expired|revoked|rejected|disabled))\s*(?:\w+ )?(?:key|token|password|credential|secret)`, drawn, "'«Kq7vX2mPz9LwT»' is not a valid API key"},
}

// links are what may stand between a name such as password and its value, beside the signs that [valueAfter] knows. They have no
// words, and their examples begin with the name.
var links = [...]rule{
	{"option, perhaps in a list", "", `(?:\\*["']\s*,?\s*\\*["']|[ \t])`, noSentence, `--password «swordfish»`},
	{"pair of name and value", "", `\\*["']?\s*,?\s*\\*["']?value\\*["']?\s*[:=]\s*`, nil, `{"name":"DB_PASSWORD","value":"«swordfish»"}`},
	{"block of YAML", "", `\\*["']?\s*:\s*[|>][+-]?\s*\n\s+`, nil, "password: |\n  «swordfish»"},
	{"value on the next line", "", `\\*["']\s*:\s*\n\s*\\*["']([^"'\n]+)`, nil, "\"password\":\n  \"«swordfish»\""},
	{"sentence with quotes", "", `[ \t]+(?:(?:for|of|set)[ \t]+(?:\S+[ \t]+){0,3}?)?(?:is|was|to|value):?[ \t]+\\*["'\x60]([^"'\x60\n]+)`, nil, `password for ann is "«swordfish»"`},
	{"sentence", "", `[ \t]+(?:(?:for|of|set)[ \t]+(?:\S+[ \t]+){0,3}?)?(?:is|was|to|value):?[ \t]+`, made, `password for ann is «Kq7vX2mPz9LwT» now`},
	{"quotes or brackets", "", `\s*(?:=\s*)?[("'\x60<\[{\\]+([^\s"'\x60()<>\[\]{}\\]+)`, shortDrawn, `password(«Kq7vX2mPz9LwT»)`},
	{"sentence about it that ends in a colon", "", `(?:[ \t]+\w+){1,4}:[ \t]+["'\x60(]*([^\s"'\x60()<>=]+)`, drawn, `token that was given: «Kq7vX2mPz9»`},
	{"sentence about it", "", `(?:[ \t]+[a-z]+){1,4}?[ \t]+["'\x60(]*([^\s"'\x60()<>=]*\d[^\s"'\x60()<>=]*)`, longDrawn, `token that was given «Kq7vX2mPz9LwT4» is bad`},
	{"directive", "", `[ \t]+`, drawn, `requirepass «Kq7vX2mPz9LwT»`},
}

// maxWindow is how far a pattern looks.
const maxWindow = 512

// matcher is a pattern that is compiled once it is needed.
type matcher struct {
	once sync.Once
	re   *regexp.Regexp
}

func (m *matcher) of(r *rule) *regexp.Regexp {
	m.once.Do(func() { m.re = regexp.MustCompile(`^(?i:` + r.pattern + `)`) })
	return m.re
}

var (
	ruleMatchers [len(rules)]matcher
	linkMatchers [len(links)]matcher
)

// byRule returns the credentials that a rule finds.
func byRule(s string) (found []span) {
	if !strings.ContainsAny(s, " \t@=<$:%") { // as in a name or a path
		return nil
	}
	lower := lowerASCII(s)
	for n := range rules {
		r := &rules[n]
		for word := range strings.SplitSeq(r.words, ", ") {
			word, later, _ := strings.Cut(word, "…")
			last := strings.LastIndex(lower, later)
			for at := strings.Index(lower, word); at >= 0 && at <= last; {
				next := at + len(word)
				if at == 0 || !isAlpha(word[0]) || !isWord(s[at-1]) {
					spans, matched := r.match(s, at, ruleMatchers[n].of(r))
					if found = append(found, spans...); len(spans) > 0 {
						next = max(next, spans[len(spans)-1].to)
					} else if word == ":" && !matched { // nor does it behind another colon of the same word
						next += run(s, next, dotted, len(s))
					}
				}
				more := strings.Index(lower[next:], word)
				if at = next + more; more < 0 {
					break
				}
			}
		}
	}
	return found
}

// match returns what the pattern finds at a place, and whether it matches at all.
func (r *rule) match(s string, at int, re *regexp.Regexp) (found []span, matched bool) {
	m := re.FindStringSubmatchIndex(s[at:min(len(s), at+maxWindow)])
	if m == nil {
		return nil, false
	}
	if len(m) == 2 {
		_, from, to := read(s, at+m[1])
		m = append(m, from-at, to-at)
	}
	for i := 2; i < len(m); i += 2 {
		if from, to := at+m[i], at+m[i+1]; m[i] >= 0 && from < to {
			to = from + len(strings.TrimRight(s[from:to], ".,;!?"))
			if text := s[from:to]; !isPlaceholder(text) && (r.is == nil || r.is(lineBefore(s, from), text)) {
				found = append(found, span{from, to})
			}
		}
	}
	return found, true
}

// lineBefore is what stands before a place on its line, the end of it if that is long.
func lineBefore(s string, at int) string {
	before := s[max(0, at-maxBefore):at]
	return before[strings.LastIndexByte(before, '\n')+1:]
}

const maxBefore = 128

// linked takes the value of a name that is linked to it by words.
func (c *scanner) linked(i, j int, strong strength) int {
	s := c.s
	option := i >= 2 && s[i-1] == '-' && (s[i-2] == '-' || isSpace(s[i-2]) || isQuote(s[i-2]))
	directive := equalFold(s[i:j], "password") || equalFold(s[i:j], "passwd") || equalFold(s[i:j], "community") || strings.ContainsAny(s[i:j], "_") || strong == secret && !strings.ContainsAny(s[i:j], "-.")
	for n := range links {
		l := &links[n]
		switch {
		case n == 0 && (!option || strong < prose), l.name == "directive" && !directive:
			continue
		}
		if spans, _ := l.match(s, j, linkMatchers[n].of(l)); len(spans) > 0 && (strong >= prose || isDrawn(s[spans[0].from:spans[0].to])) {
			return c.take(spans[0].from, spans[0].to)
		}
		if n == 0 {
			return i // what follows an option is a sentence about it
		}
	}
	return i
}

// lowerASCII is a text in small letters, each where it was.
func lowerASCII(s string) string {
	b := []byte(s)
	for i := range b {
		if isUpper(b[i]) {
			b[i] |= 0x20
		}
	}
	return string(b)
}
