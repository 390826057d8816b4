// Package tasks reads what a batch is to do.
//
// A [Task] is a prompt, or what a command is filled with ([Template]). A [Source] reads tasks one after the other, and can do so again: [FileSource] is a file with
// an object, a prompt or a row of a table on each line, or a directory with a file for each task. What is wrong in it is a [Mistake], with the line. Tasks that
// can be read only once, as from stdin, are copied to a file beside the results first ([ReadSpool]).
//
// A task is known by what it says, its [Hash]: one that is changed is a new task, and one that its file gives no id gets one that is made of the hash.
package tasks

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Task is one thing to do.
type Task struct {
	// ID names the task in the results. A task that its file gives none gets one that is made of what it says.
	ID string
	// Prompt is what an agent is asked, or what {} stands for in a command.
	Prompt string
	// Args are further arguments of the command, or a whole command if the batch has none.
	Args []string
	// Cwd, Env, Profile, Model, Name and Tags belong to this task alone; Env adds to the environment.
	Cwd                  string
	Env                  map[string]string
	Profile, Model, Name string
	Tags                 map[string]string
	// Timeout and MaxCost are limits of this task; 0 means none of its own.
	Timeout time.Duration
	MaxCost float64
	// DependsOn are the ids of tasks that must be done before this one starts.
	DependsOn []string
	// Needs are labels that a machine of the fleet must have to run it. Where there is no fleet, they mean nothing.
	Needs []string
	// Files says how the files in Cwd get to a machine of the fleet; empty if the batch says it.
	Files string

	// File is the file that the task is, in a directory of tasks; Fields are columns of a CSV file, or further keys of a line of JSON.
	File   string
	Fields map[string]string
	// Line is where the task begins in its file, from 1; 0 if it has no line.
	Line int
}

// Texts are what the task says, which no log may quote: its prompt, and the fields that are more than a name.
func (t *Task) Texts() []string {
	list := []string{t.Prompt}
	for _, value := range t.Fields {
		if strings.ContainsAny(strings.TrimSpace(value), " \t\n") {
			list = append(list, value)
		}
	}
	return list
}

// Hash is the first half of a task's fingerprint: what it says, and not what it is called. A task whose hash has changed is a new one.
type Hash uint64

// String is the hash as the results have it.
func (h Hash) String() string { return fmt.Sprintf("%016x", uint64(h)) }

// ParseHash reads a hash.
func ParseHash(text string) (Hash, bool) {
	if len(text) != 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 16, 64)
	return Hash(n), err == nil
}

// OwnLine is the line of a task that its file gives no id, by which a person finds it; 0 if it has an id, or no line.
func OwnLine(id string, hash Hash, line int) int {
	if rest, own := strings.CutPrefix(id, hash.String()[:12]); own && (rest == "" || rest[0] == '-') {
		return line
	}
	return 0
}

// Hash fingerprints what the task says.
func (t *Task) Hash() Hash {
	b := make([]byte, 0, len(t.Prompt)+64)
	add := func(key byte, text string) {
		if text != "" {
			b = append(binary.AppendUvarint(append(b, key), uint64(len(text))), text...)
		}
	}
	addMap := func(key byte, m map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			b = append(b, key)
			add('k', name)
			add('v', m[name])
		}
	}
	add('p', t.Prompt)
	for _, arg := range t.Args {
		b = append(b, 'a') // also where it is empty
		add('=', arg)
	}
	add('c', t.Cwd)
	addMap('e', t.Env)
	add('P', t.Profile)
	add('M', t.Model)
	add('N', t.Name)
	addMap('t', t.Tags)
	if t.Timeout != 0 {
		add('T', t.Timeout.String())
	}
	if t.MaxCost != 0 {
		add('$', strconv.FormatFloat(t.MaxCost, 'g', -1, 64))
	}
	for _, id := range t.DependsOn {
		add('d', id)
	}
	for _, label := range t.Needs {
		add('n', label)
	}
	add('w', t.Files)
	add('f', t.File)
	addMap('F', t.Fields)
	sum := sha256.Sum256(b)
	return Hash(binary.BigEndian.Uint64(sum[:8]))
}

// OwnID is the id of a task that its file gives none: it stays the same when tasks are put before it. occurrence counts equal
// tasks, from 1.
func OwnID(hash Hash, occurrence uint32) string {
	id := hash.String()[:12]
	if occurrence > 1 {
		id += "-" + strconv.FormatUint(uint64(occurrence), 10)
	}
	return id
}
