package verdict

import (
	"sync"
	"time"
)

// LastResort judges a failure by plain signals in a program's own words: "HTTP
// 429", "rate limited", "auth failed", "ECONNRESET". It is for outcomes that
// no more exact rule matches. The caller makes sure that the outcome holds
// nothing but what the program has written about itself: the table cannot tell a
// complaint from a quotation. It abstains with false.
func LastResort(o Outcome, now time.Time) (Verdict, bool) {
	o.Stdout, o.Stderr = lastPart(o.Stdout), lastPart(o.Stderr)
	return lastResort().Judge(o, now)
}

// lastPart is the end of a stream, where a program says why it stopped. These
// words are common ones: to look for them in all of it takes long.
func lastPart(e Excerpt) Excerpt {
	const most = 32 << 10
	text := e.Head
	if len(e.Tail) > 0 {
		text = append(append([]byte{}, e.Head[max(len(e.Head)-most, 0):]...), e.Tail...)
	}
	return ExcerptOf(text[max(len(text)-most, 0):])
}

var lastResort = sync.OnceValue(func() *Rules {
	rules, err := Compile(lastResorts()...)
	if err != nil {
		panic(err) // a test compiles them
	}
	return rules
})

// status matches a number as the status of an HTTP answer. It counts only
// beside a word that makes it one: "HTTP/1.1 429", "status code: 429",
// "statusCode":429, "Error: 429", "429 error". A place in a file is none:
// "error: 429:12".
func status(number string) string {
	return `(^|[^a-z])(https?(/[\d.]+)?|status|error|code)([ _-]?(code|status|error))?["')]?[ :=("'#]{1,3}(` + number + `)\)?:?($|["')\],;. ])` +
		`|\b(` + number + `) (error|status)\b`
}

// lastResorts are asked in this order. What is permanent goes before what passes
// where one failure may say both: a wrong use may name any option ("invalid value
// for --timeout"), and money that is used up comes with a 429. A throttle goes
// before the refusals, because GitHub's comes with a 403.
func lastResorts() []Rule {
	return []Rule{
		{Name: "wrong-use", Class: InvalidRequest, Match: `\b(unknown|unrecognized|unexpected|invalid|missing|bad|ambiguous)( required)? (option|argument|flag|command|subcommand|value|parameter)s?\b|^usage: `},
		{Name: "billing", Class: Billing, Match: `\binsufficient[ _](quota|credits?|funds|balance)\b|\bexceeded your current quota\b|\bcredit balance is too low\b|\bpayment required\b|` + status(`402`)},

		{Name: "rate-limit", Class: RateLimit, Match: `(^|[^\w-])rate[ -]?limit(s|ed|ing)?\b|\bRATE_LIMIT(ED|_EXCEEDED)?\b|\brate_limit_error\b|\btoo ?many ?requests\b|submitted too quickly|\bthrottl(ed|ing)\b|\bRequestLimitExceeded\b|\bRESOURCE_EXHAUSTED\b|\bx-ratelimit-remaining["']?[:=] ?["']?0\b`},
		{Name: "status-429", Class: RateLimit, Match: status(`429`)},

		{Name: "auth", Class: Auth, Match: `\bauth(entication|orization)?[ _](failed|failure|error)\b|\b(failed to authenticate|not authenticated|authentication_error|unauthori[sz]ed|not logged in)\b|\b(invalid|incorrect|missing) (x-)?api[ _-]?key\b`},
		{Name: "status-401", Class: Auth, Match: status(`401|403|407`)},
		{Name: "configuration", Class: InvalidRequest, Match: `\binvalid (tool|session|mcp)? ?configuration\b`},
		{Name: "status-400", Class: InvalidRequest, Match: status(`400|405|409|415|422`)},
		{Name: "status-404", Class: NotFound, Match: status(`404|410`) + `|\bmodel not found\b`},
		{Name: "status-413", Class: TooLarge, Match: status(`413`)},

		{Name: "overloaded", Class: Overloaded, Match: status(`529`) + `|\boverloaded(_error)?\b|\bat capacity\b`},
		{Name: "server-error", Class: ServerError, Match: status(`408|50\d`) + `|\binternal server error\b|\bbad gateway\b|\bservice (temporarily )?unavailable\b|\bgateway time-?out\b`},

		{Name: "certificate", Class: InvalidRequest, Match: `\b(self[- ]signed|certificate (verify|has expired|is not)|verify (the first )?certificate|SSL certificate|x509|peer certificate)|\b(CERT_\w+|UNABLE_TO_(VERIFY|GET_ISSUER)\w*)\b`},
		{Name: "errno", Class: Network, Match: `\b(E(CONN(RESET|REFUSED|ABORTED)|TIMEDOUT|NOTFOUND|AI_AGAIN|PIPE|HOST(UNREACH|DOWN)|NET(UNREACH|DOWN))|UND_ERR_\w+)\b`},
		{Name: "connection", Class: Network, Match: `\bconnection (was |is )?(refused|reset|aborted|lost|dropped|timed[ -]?out|timeout|closed by|closed before|error|failed)|\b(failed|unable|could not|couldn't|cannot) (to )?connect\b|\bsocket hang up\b|\bbroken pipe\b|\bfetch failed\b|\bnetwork (error|is unreachable|is down)\b|\bno route to host\b|\bi/o timeout\b`},
		{Name: "name", Class: Network, Match: `\bcould not resolve host\b|\bno such host\b|\bname or service not known\b|\btemporary failure in name resolution\b|\bgetaddrinfo\b`},
		{Name: "cut", Class: Network, Match: `\b(read|write|get|post|put|patch|head|dial|tcp|https?)\b.*: (unexpected )?EOF$`},
		{Name: "timeout", Class: Timeout, Match: `\btimed[ -]?out\b|(^|[^\w-])timeout( (error|exceeded|expired|after|waiting|awaiting|while|during|of \d)|[.!]?$)|\bdeadline (has )?(exceeded|elapsed)\b`},
	}
}
