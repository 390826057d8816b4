package engine

import (
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/output"
	"github.com/belay-run/belay/internal/engine/spending"
)

// What callers of the engine say is declared where the stages read it. These are its names for callers.
type (
	Settings  = call.Settings
	Limits    = call.Limits
	Streams   = call.Streams
	Admission = call.Admission
	Record    = call.Record

	Bounds    = call.Bounds
	Ceilings  = call.Ceilings
	Check     = call.Check
	Worktree  = call.Worktree
	Fallback  = call.Fallback
	Task      = call.Task
	Schedule  = call.Schedule
	Postponed = call.Postponed
	Activity  = call.Activity

	Starter    = call.Starter
	Process    = call.Process
	Supervised = call.Supervised

	TooLate       = call.TooLate
	NotAdmitted   = call.NotAdmitted
	GaveUp        = call.GaveUp
	OutputMatched = call.OutputMatched
	WorkDone      = call.WorkDone

	Output = output.Output
)

const (
	BusyWait    = admission.BusyWait
	BusyReplace = admission.BusyReplace
	BusyFail    = admission.BusyFail

	AskedModel = call.AskedModel
	NoLogDir   = call.NoLogDir
	ChargeVar  = spending.ChargeVar
)
