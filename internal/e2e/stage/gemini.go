//go:build linux

package stage

import "github.com/belay-run/belay/internal/agent/gemini"

// Gemini is for what is special to it.
var Gemini = of(&gemini.Descriptor)
