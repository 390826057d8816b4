package agent

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/verdict"
)

// Attempt is what the [Reader] of any agent knows of an attempt. It is embedded there.
type Attempt struct {
	Plain    bool     // stdout is the answer and nothing else
	Guess    bool     // whether it is, is not known; events are recognized by how they begin
	Asked    Form     // of a saved outcome: what its command line has asked for
	Added    []string // options of ours on the command line
	ResumeID string   // the session that the command line resumes

	Lines   int // of stdout, so far
	Session string
	Version string
	Model   string
	Models  ModelUse
	Active  bool   // the model or a tool has done something
	Worked  bool   // a tool has
	Said    bool   // there is an answer that is not empty
	Final   Answer // the last of the model's answers
	Writes  Doing  // what the model does, unless a tool runs
	Tools   Tools
	Agents  []string // sub-agents that work now, beside those that are calls of a tool
	Retries int      // that the CLI has told of
	Misread bool     // an option of ours was not understood
	Over    bool     // it has ended
}

// Info adds what the attempt does now to what a line tells.
func (a *Attempt) Info(info LineInfo) LineInfo {
	info.Tools, info.Activity, info.Begun, info.Models = a.Tools.Running(), Activity{Doing: a.Writes}, a.Tools.Begun(), a.Models
	info.Calls, info.SubAgents = a.Tools.Noted(), len(a.Agents)+a.Tools.count(func(one openTool) bool { return one.agent })
	if name, argument := a.Tools.Newest(); name != "" {
		info.Activity = Activity{Doing: UsingTool, Tool: name, Argument: argument}
	}
	return info
}

// Account says what the attempt has done, but for what it has used.
func (a *Attempt) Account() Account {
	return Account{Session: a.Session, Active: a.Active, Version: a.Version, Model: a.Model, Tools: a.Tools.Use(), Misunderstood: a.Misread}
}

// Answer implements [Reader].
func (a *Attempt) Answer() Answer {
	if a.Plain {
		return Printed
	}
	return a.Final
}

// OtherSession is the verdict on a CLI that has begun something new, in its own word for a session, instead of what it was to resume.
func (a *Attempt) OtherSession(cli, word string) (v verdict.Verdict, other bool) {
	return verdict.Verdict{Class: verdict.SessionNotFound, Rule: "other-session",
		Evidence: fmt.Sprintf("%s began a new %s %s instead of resuming %s", cli, word, a.Session, a.ResumeID)}, a.ResumeID != "" && a.Session != "" && !strings.EqualFold(a.ResumeID, a.Session)
}
