package cli

import (
	"strings"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
)

// fellBack says that another agent works on the request, and speaks of that one from now on.
func (v *view) fellBack(e belaytype.FellBack) {
	v.end()
	v.say(message.FellBack(e.From, e.To, e.Verdict.Class, e.Until))
	name, _, _ := strings.Cut(e.To, ":")
	v.name = name
	if cli := profile.Find(name); cli != nil {
		v.how, v.login = continueHint(cli), cli.LoginHint()
	}
	if v.status != nil {
		v.status.rename(name)
	}
}
