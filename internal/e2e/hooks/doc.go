// Package hooks holds tests that let the real claude and codex call hooks that fail in every way there is, bare and behind
// `belay hook`, side by side.
package hooks
