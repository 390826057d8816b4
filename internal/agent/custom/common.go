package custom

import (
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// common are the words of what CLIs are made with (fetch, the vendors' SDKs, reqwest), and of what services say of the end of an answer. They are asked about
// errors where neither the profile, a service nor the status says more.
var common = agent.Rules{Table: []verdict.Rule{
	{Name: "stop-filter", Class: verdict.Refused, Match: `\b(finish_?reason|stopped with|stop reason|response incomplete)\W{1,3}(content_filter|safety|refusal|sensitive|recitation|prohibited_content|blocklist)\b|\bsafety policy blocked\b|model refused to (complete|continue)`},
	{Name: "stop-length", Class: verdict.LimitReached, Match: `\bfinish_?reason\W{1,3}(length|max_tokens|truncated)\b`},
	{Name: "stop-server", Class: verdict.ServerError, Match: `\b(finish_?reason|stopped with|stop reason)\W{1,3}(network_error|error|abort|insufficient_system_resource|internal_error|other)\b|\bprovider (returned error|disconnected)`},
	{Name: "certificate", Class: verdict.InvalidRequest, Match: `\bself[- ]signed certificate|unable to (verify|get) (the first|local issuer) certificate|certificate (verify failed|has expired)|\bunknown certificate\b|invalid peer certificate`},
	{Name: "cut", Class: verdict.Network, Match: `^(api error: |error: )?(terminated|connection error|request was aborted|aborted|fetch failed|premature close|other side closed)\b|\bstream (has )?(ended|closed|stopped) (without|before)\b|socket connection was closed unexpectedly|error decoding response body|sending request for url|upstream connect error|typo in the url or port`},
	{Name: "unread", Class: verdict.BadOutput, Match: `\bprovider finish_reason: |unterminated string|unexpected (end of (JSON )?(input|data)|token\b.{0,40}\bJSON|non-whitespace character after JSON)|\bis not valid JSON|JSON parse error|incomplete json segment|\bEOF while parsing|not (a )?valid JSON|expected value at line|failed to parse`},
	{Name: "empty", Class: verdict.BadOutput, Match: `\b(returned|got|received|with) (an )?empty (response|answer|message|content)|\bempty response\b|no response was returned|without sending any chunks|no (visible|usable) (content|output)`},
}}
