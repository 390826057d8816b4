// Package view is what belay ui shows, as data: each view is a struct that becomes JSON. What it looks like is the business of what renders
// it.
//
// [Source.Now] comes from the state directory as it is; all else comes from the record.
//
// now.go is what runs and waits, and act.go what a person may do about it; tail.go is what a run prints, and batches.go how batches stand. Of the past, past.go shows
// runs, sessions, alerts and changes, health.go how reliable they were, and spend.go what they cost.
package view
