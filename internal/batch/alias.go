package batch

import (
	"context"
	"io"

	"github.com/belay-run/belay/internal/batch/tasks"
)

// What callers use of package tasks. They import batch alone.
type (
	// Task is one thing to do.
	Task = tasks.Task
	// Hash is the fingerprint of what a task says. A task whose hash has changed is a new one.
	Hash = tasks.Hash
	// Source is where the tasks are. Each reader begins with the first one.
	Source = tasks.Source
	// Reader reads tasks one after the other.
	Reader = tasks.Reader
	// FileSource is a file with tasks, or a directory.
	FileSource = tasks.FileSource
	// Format says how tasks are written down.
	Format = tasks.Format
	// Mistake says what is wrong with the tasks, and where.
	Mistake = tasks.Mistake
	// Template is a command whose arguments may hold placeholders.
	Template = tasks.Template
	// Spool is the copy of tasks that can be read only once.
	Spool = tasks.Spool
)

// The formats of tasks.
const (
	JSONLines = tasks.JSONLines
	Lines     = tasks.Lines
	CSV       = tasks.CSV
	Files     = tasks.Files
)

// Formats are those that a user may name.
var Formats = tasks.Formats

// DetectFormat says how the tasks in a file are written down, by its name, else by how it begins.
func DetectFormat(path string) (Format, error) { return tasks.DetectFormat(path) }

// ParseTemplate takes a command apart.
func ParseTemplate(args []string) *Template { return tasks.ParseTemplate(args) }

// ReadSpool keeps tasks from stdin in a file beside the results. Where nothing comes, or a person sits in front of it, those of the batch that was begun with the same
// results are used.
func ReadSpool(ctx context.Context, stdin io.Reader, results string, terminal bool) (*Spool, error) {
	return tasks.ReadSpool(ctx, stdin, results, terminal)
}

// ReadSpoolFile does the same with a named pipe or a device.
func ReadSpoolFile(ctx context.Context, name, results string) (*Spool, error) {
	return tasks.ReadSpoolFile(ctx, name, results)
}
