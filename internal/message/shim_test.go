package message_test

import "github.com/belay-run/belay/internal/message"

// shimMessages are those about the links that put belay in front of CLIs.
func shimMessages(say func(name, text string)) {
	const dir, belay = "~/.local/share/belay/shims", "/usr/bin/belay"
	names := []string{"claude", "codex"}
	say("ShimsLinked", message.ShimsLinked(names, dir, belay, true))
	say("ShimsLinked/already", message.ShimsLinked(names, dir, belay, false))
	say("ShimTaken", message.ShimTaken(dir+"/claude"))
	say("ShimFirst", message.ShimFirst())
	say("ShimIsFirst", message.ShimIsFirst())
	say("ShimForSDKs", message.ShimForSDKs())
	say("ShimSDKs", message.ShimSDKs())
	say("ShimsRemoved", message.ShimsRemoved(names, dir))
	say("ShimsRemoved/none", message.ShimsRemoved(nil, dir))
	say("ShimsToRemove", message.ShimsToRemove(names, dir))
	say("NotForPath", message.NotForPath("/tmp/a:b", ":"))
	say("NotAShim", message.NotAShim("vim")+"; "+message.ShimsAre(names))
	say("ShimsAre", message.ShimsAre(names))
	say("NoShimsHere", message.NoShimsHere())
	say("ShimState", message.ShimState("linked", true, true, dir+"/claude"))
	say("ShimState/not installed", message.ShimState("linked", true, false, dir+"/claude"))
	for _, state := range []string{"broken", "other", "none"} {
		say("ShimState/"+state, message.ShimState(state, false, true, ""))
	}
	say("ShimState/not on the PATH", message.ShimState("linked", false, true, ""))
	say("ShimState/behind", message.ShimState("linked", false, true, "/usr/bin/claude"))
	say("ShimBroken", message.ShimBroken(dir+"/claude", belay))
	say("ShimBehind", message.ShimBehind("claude", "/usr/bin/claude", dir))
	say("ShimsFine", message.ShimsFine(names, dir))
	say("CommandNotFound", message.CommandNotFound("claude"))
	say("NotExecutable", message.NotExecutable("claude"))
}
