package engine

import "github.com/belay-run/belay/internal/agent"

// checkOptions says that there is an option in the command line that nobody here knows.
func (inv *Invocation) checkOptions() {
	if inv.talk != nil && inv.talk.traits.Unknown != "" {
		inv.observe(UnknownOption{Option: inv.talk.traits.Unknown})
	}
}

// checkVersion says, once, that the CLI is not of a version that its profile is tested with.
func (inv *Invocation) checkVersion(a *attempt) {
	profile, ok := inv.profile.(agent.Versioned)
	if !ok || inv.versionSaid {
		return
	}
	version := a.account.Version
	if teller, ok := a.listener.(agent.VersionTeller); ok {
		version = teller.Version()
	}
	if standing := profile.Tested().Standing(version); standing != "" {
		inv.versionSaid = true
		inv.observe(UntestedVersion{Version: version, Standing: standing})
	}
}
