package message_test

import (
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// fallbackMessages are those about fallbacks.
func fallbackMessages(say func(name, text string)) {
	at := time.Date(2000, 1, 1, 15, 0, 0, 0, time.UTC)
	say("FellBack", message.FellBack("claude", "codex:gpt-5", verdict.UsageLimit, at))
	say("FellBack/no time", message.FellBack("claude", "codex", verdict.Overloaded, time.Time{}))
	say("FellBack/breaker", message.FellBack("claude", "codex", verdict.BreakerOpen, at))
	say("FallbackSkipped", message.FallbackSkipped("codex", message.FallbackWorked("claude", "--fallback-after-work")))
	say("FallbackWorked", message.FallbackSkipped("codex", message.FallbackWorked("claude", "")))
	say("FallbackSameLimit", message.FallbackSkipped("claude:sonnet", message.FallbackSameLimit()))
	refused := func(name, why string) { say(name, message.FallbackRefused("codex", why)) }
	refused("FallbackRefused", message.FallbackOption("claude", "--disallowedTools", "codex"))
	refused("FallbackOption", message.FallbackOption("claude", "/review", "codex"))
	say("FallbackUnknown", message.FallbackRefused("codx", message.FallbackUnknown("codx", []string{"claude", "codex", "gemini"})))
	refused("FallbackNotNeeded", message.FallbackNotNeeded())
	refused("FallbackSession", message.FallbackSession())
	say("FallbackSame", message.FallbackRefused("claude", message.FallbackSame("claude")))
	refused("FallbackModel", message.FallbackModel("codex"))
	refused("FallbackForm", message.FallbackForm("claude", "codex"))
	say("FallbackOpen", message.FallbackRefused("opencode", message.FallbackOpen("claude", "opencode")))
	refused("FallbackArguments", message.FallbackArguments("codex"))
	say("FallbackArgs", message.FallbackArgs("~/.config/belay/config.toml", "codex"))
	say("FallbackFormat", message.FallbackFormat())
	say("BackBefore", message.BackBefore("codex", verdict.UsageLimit, "claude", at))
	say("NotAFallback", "--fallback: "+message.NotAFallback("codex:"))
	say("FallbackTwice", "--fallback: "+message.FallbackTwice("codex"))
	say("MustBeArgs", "config.toml:3: fallback.codex.args: "+message.MustBeArgs())
	say("FallbackStart", "fallback: "+message.FallbackStart("codex", []string{"codex", "exec"}))
}
