package codex

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// heading is what a run begins with.
type heading struct {
	version, workdir, model, provider, approval, sandbox, effort, summaries, session string
}

// entries are its lines, in order.
func (h *heading) entries() [][2]string {
	return [][2]string{{"workdir", h.workdir}, {"model", h.model}, {"provider", h.provider}, {"approval", h.approval}, {"sandbox", h.sandbox},
		{"reasoning effort", h.effort}, {"reasoning summaries", h.summaries}, {"session id", h.session}}
}

// heading is what the record says; what it does not, and the config does not either, stays empty.
func (r *progressRecord) heading(config settings) heading {
	h := heading{version: r.version, provider: r.provider, session: r.thread}
	t := cmp.Or(r.context, r.applied)
	if t == nil {
		h.model, h.provider = config.model, cmp.Or(h.provider, config.provider)
		return h
	}
	var approval string
	_ = json.Unmarshal(t.Approval, &approval)
	h.workdir, h.model, h.approval = t.Cwd, t.Model, approval
	h.effort, h.summaries = cmp.Or(t.Effort, t.AppliedEffort, "none"), cmp.Or(config.summaries, "none")
	roots := append(slices.Clone(r.roots), t.Roots...)
	if a := r.applied; a != nil { // they are newer, and those of the config
		h.provider = cmp.Or(a.Provider, h.provider)
		h.summaries = cmp.Or(a.AppliedSummary, h.summaries)
		roots = append(roots, a.AppliedRoots...)
	}
	h.sandbox = sandboxText(t, roots)
	return h
}

// sandboxPolicy says what tools may do.
type sandboxPolicy struct {
	Type           string          `json:"type"`
	Network        json.RawMessage `json:"network_access"`
	ExcludeTMPDIR  bool            `json:"exclude_tmpdir_env_var"`
	ExcludeTmp     bool            `json:"exclude_slash_tmp"`
	networkAllowed bool
}

// permissions are the same in a newer form.
type permissions struct {
	Type       string `json:"type"`
	Network    string `json:"network"`
	FileSystem struct {
		Entries []struct {
			Path struct {
				Value struct {
					Kind string `json:"kind"`
				} `json:"value"`
			} `json:"path"`
			Access string `json:"access"`
		} `json:"entries"`
	} `json:"file_system"`
}

// policy is the older form of permissions.
func (p *permissions) policy() *sandboxPolicy {
	s := &sandboxPolicy{Type: "read-only", ExcludeTMPDIR: true, ExcludeTmp: true, networkAllowed: p.Network == "enabled"}
	switch p.Type {
	case "disabled":
		return &sandboxPolicy{Type: "danger-full-access"}
	case "external":
		s.Type = "external-sandbox"
	}
	for _, entry := range p.FileSystem.Entries {
		if entry.Access == "write" {
			s.Type = "workspace-write"
			s.ExcludeTmp = s.ExcludeTmp && entry.Path.Value.Kind != "slash_tmp"
			s.ExcludeTMPDIR = s.ExcludeTMPDIR && entry.Path.Value.Kind != "tmpdir"
		}
	}
	return s
}

// sandboxText is what codex calls a sandbox.
func sandboxText(t *threadSettings, roots []string) string {
	s := t.Sandbox
	switch {
	case s != nil:
		s.networkAllowed = string(s.Network) == "true" || string(s.Network) == `"enabled"`
	case t.Profile != nil:
		s = t.Profile.policy()
	default:
		return ""
	}
	text := s.Type
	if s.Type == "workspace-write" {
		entries := []string{"workdir"}
		if !s.ExcludeTmp {
			entries = append(entries, "/tmp")
		}
		if !s.ExcludeTMPDIR {
			entries = append(entries, "$TMPDIR")
		}
		for _, root := range roots {
			if root != t.Cwd && !slices.Contains(entries, root) {
				entries = append(entries, root)
			}
		}
		text += " [" + strings.Join(entries, ", ") + "]"
	}
	if s.networkAllowed && s.Type != "danger-full-access" {
		text += " (network access enabled)"
	}
	return text
}

// missingBubblewrap is what codex says of a sandbox on Linux where the system has no bubblewrap.
const missingBubblewrap = "Codex could not find bubblewrap on PATH. Install bubblewrap with your OS package manager. See the sandbox prerequisites: " +
	"https://developers.openai.com/codex/concepts/sandboxing#prerequisites. Codex will use the bundled bubblewrap in the meantime."

// versionText is how the header names the version, if it is known.
func versionText(version string) string {
	if version == "" {
		return ""
	}
	return " v" + version
}
