package message_test

import (
	"errors"
	"time"

	"github.com/belay-run/belay/internal/message"
)

// pageMessages are those of belay ui.
func pageMessages(say func(name, text string)) {
	from := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	say("EmptyToken", message.InFlag("metrics-token-file", errors.New(message.EmptyToken())))
	say("NotAReportFormat", message.NotAReportFormat("pdf"))
	say("ReportHeading", message.ReportHeading(&from, nil, from.AddDate(0, 0, 7)))
	say("ReportHeading/of all", message.ReportHeading(nil, nil, from))
	say("ReportFigures", message.ReportFigures())
	say("ReportModels", message.ReportModels())
	say("ReportProfiles", message.ReportProfiles())
	say("ReportClasses", message.ReportClasses())
	say("ReportFailed", message.ReportFailed())
	say("PageAt", message.PageAt("http://127.0.0.1:7000"))
	say("PageAddress", message.PageAddress("http://127.0.0.1:7000/#token=ABC"))
	say("PageNotOpened", message.PageNotOpened(errors.New(message.PageNoDesktop())))
	say("PageNoDesktop", message.PageNoDesktop())
	say("PageExposed", message.PageExposed("http://192.168.1.5:7000"))
	say("PageIdle", message.PageIdle(8*time.Hour))
	say("PageListen", message.PageListen(errors.New("listen tcp 127.0.0.1:80: bind: permission denied")))
	say("NotAPort", message.NotAPort("x"))
	say("NotAnAddress", message.NotAnAddress("here"))
	say("PageForeignHost", message.PageForeignHost())
	say("PageForeignOrigin", message.PageForeignOrigin())
	say("PageTicket", message.PageTicket())
	say("PageSession", message.PageSession())
	say("PageNotFound", message.PageNotFound())
	say("PagePostOnly", message.PagePostOnly())
	say("PageGetOnly", message.PageGetOnly())
	say("PageMethod", message.PageMethod("POST"))
	say("PageReadOnly", message.PageReadOnly())
	say("BatchRetrying", message.BatchRetrying("answers.jsonl", 3, "1a2b3c4d"))
	say("BatchRetryFailed", message.BatchRetryFailed("answers.jsonl", "no such file: tasks.txt"))
	say("BatchRetryFailed", message.BatchRetryFailed("answers.jsonl", ""))
	say("BatchRetryUnknown", message.BatchRetryUnknown())
	say("BatchRetryRuns", message.BatchRetryRuns())
	say("BatchRetryNothing", message.BatchRetryNothing())
	say("BatchRetryNoCommand", message.BatchRetryNoCommand())
	say("BatchRetryNoDir", message.BatchRetryNoDir("/home/you/project"))
	say("PageManyTails", message.PageManyTails())
	say("PageUnclear", message.PageUnclear())
	say("HoldLength", message.HoldLength(31*24*time.Hour))
}
