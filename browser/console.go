package browser

import (
	"strings"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// listenConsole keeps what the page complains about, and what the browser does: a policy that was broken, a script that failed.
func listenConsole(t *Tab) {
	add := func(parts ...string) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.said = append(t.said, strings.Join(parts, " "))
	}
	chromedp.ListenTarget(t.Context, func(e any) {
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			add("an exception:", e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
				for _, a := range e.Args {
					add("console:", string(a.Value), a.Description)
				}
			}
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
				add("log:", e.Entry.Text, e.Entry.URL)
			}
		}
	})
}
