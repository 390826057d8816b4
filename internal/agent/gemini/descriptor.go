package gemini

import (
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/retry"
)

// Descriptor is what is known of gemini.
var Descriptor = agent.Descriptor{
	Name:           Name,
	New:            func(args, env []string, dir string) agent.Profile { return New(args, env, dir) },
	Preset:         retry.Policy{MaxRetries: 3, BaseDelay: time.Second, MaxDelay: time.Minute, Jitter: retry.Full},
	Tested:         agent.Tested{"0.61.0", "0.40.0"},
	Ask:            []string{"-p"},
	StandIn:        agent.StandIn{Ask: []string{"-p", ""}, Model: optModel},
	MaxInput:       MaxInput,
	IsSession:      agent.IsUUID,
	SessionExample: agent.UUIDExample,
	Recall:         Recall,
	HomeDir:        ".gemini",
	Install:        []agent.Install{{Command: "npm install -g @google/gemini-cli"}},
	Login: agent.Login{
		Command:   "gemini", // which asks how, and opens a browser
		Variables: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "GOOGLE_APPLICATION_CREDENTIALS"},
		File:      "oauth_creds.json", None: "no key and no login were found",
	},
	Client:    &client,
	Rehearsal: agent.Rehearsal{Vendor: "google", Ask: []string{"-p", "say hi"}},
}
