// Package rehearse is a stand-in for the APIs of the agents' vendors, on loopback, that fails as a script says.
//
// [Start] begins to listen. [API.Environ] is what a real CLI needs in its environment to talk to it and to no other
// service, with a home of its own and a key that is not valid anywhere. [API.Requests] lists the requests, with their
// times and answers.
//
//	api, err := rehearse.Start("429(retry-after=2)x2, 200")
//	defer api.Close()
//	cmd := exec.Command("claude", "-p", "hi")
//	cmd.Env = append(os.Environ(), api.Environ()...)
//
// The requests that a CLI makes for the work itself take the steps of the script, one each; its other requests (whether
// the service is up, which models there are, a title for the session) are answered well and are on record too. All
// processes that use one API share its script.
//
// [Script] and docs/rehearsal.md say what a script can do.
//
// A request goes through the files in this order: serve.go receives it, vendor.go says whose it is, script.go which step answers it (parse.go, syntax.go and
// options.go read what a script says), the service's own file (anthropic.go, openai.go, gemini.go, chat.go, github.go) what the answer is, windows.go what it tells of the
// account's limits, and send.go sends it, or breaks it off; request.go keeps what came.
package rehearse
