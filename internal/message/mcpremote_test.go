package message_test

import (
	"errors"
	"time"

	"github.com/belay-run/belay/internal/message"
)

// sayRemote says what there is to say of MCP servers over a network.
func sayRemote(say func(name, text string)) {
	refused := errors.New("dial tcp 10.0.0.1:443: connect: connection refused")
	on := func(how string) string { return message.OnServer(how) }
	say("DeathNotReached", on(message.DeathNotReached(refused)))
	say("DeathForgot", on(message.DeathForgot()))
	say("DeathLeft", on(message.DeathLeft(message.NoLife(30*time.Second))))
	say("ConnectionCut", on(message.ConnectionCut(errors.New("unexpected EOF"))))
	say("ConnectionCut/end", on(message.ConnectionCut(nil)))
	say("NoAnswerInStream", on(message.NoAnswerInStream()))
	say("WrongType", on(message.WrongType("text/html")))
	say("NotAnAnswer", on(message.NotAnAnswer()))
	say("HTTPStatus", on(message.HTTPStatus("502 Bad Gateway", "")))
	say("HTTPStatus/body", on(message.HTTPStatus("400 Bad Request", "no such\n  method.")))
	say("Throttled", on(message.Throttled("429 Too Many Requests", 1, time.Hour)))
	say("Throttled/often", on(message.Throttled("503 Service Unavailable", 4, 0)))
	say("NoEndpoint", on(message.NoEndpoint()))
	say("ForeignEndpoint", on(message.ForeignEndpoint("https://other.example.com")))
	say("SessionOver", on(message.SessionOver()))
	say("TooManyRedirects", on(message.TooManyRedirects()))
	say("ServerNotReached", message.ServerNotReached("db", refused))
	say("CallCut", message.CallCut("db", message.ConnectionCut(nil), "tools/call", "query"))
	say("CallCut/method", message.CallCut("db", message.NoAnswerInStream(), "resources/read", ""))
	say("CallNotDone", message.CallNotDone("db", message.Throttled("429 Too Many Requests", 4, time.Minute)))
	say("ServerWantsLogin", message.ServerWantsLogin("db"))
	say("CredentialRefused", message.CredentialRefused("db", "401 Unauthorized", []string{"DB_TOKEN"}))
	say("ForeignRedirect", message.ForeignRedirect("db", "https://other.example.com"))
	say("NotAServerURL", message.NotAServerURL())
	say("URLHasPassword", message.URLHasPassword())
	say("NotAHeaderVariable", message.NotAHeaderVariable("Authorization: x"))
	say("NotATransport", message.NotATransport("ws"))
	say("URLOrCommand", message.URLOrCommand())
	say("NeedsURL", message.NeedsURL("bearer-env"))
	say("NotWithURL", message.NotWithURL("cwd"))
	say("HeaderVariableUnset", message.HeaderVariableUnset("DB_TOKEN"))
	say("HeaderVariableBad", message.HeaderVariableBad("DB_TOKEN"))
}
