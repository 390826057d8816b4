//go:build linux || darwin

package supervise

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// daemons are what a command leaves running on purpose, see [Spec.Daemons].
type daemons struct {
	path     string // of the command
	patterns []*regexp.Regexp
	found    []Proc // by the walks of the tree
}

// spares reports whether q is one. The pattern alone does not decide: a tool that the command has started is another program, and its command line can hold anything.
func (d *daemons) spares(q Proc) bool {
	if len(d.patterns) == 0 || q.SID != q.PID {
		return false
	}
	if slices.ContainsFunc(d.found, func(known Proc) bool { return known.Identity() == q.Identity() }) {
		return true
	}
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", q.PID))
	if err != nil {
		return false
	}
	file, _ := filepath.EvalSymlinks(d.path)
	program = filepath.Base(strings.TrimSuffix(program, " (deleted)")) // by an update
	if program != filepath.Base(d.path) && program != filepath.Base(file) {
		return false
	}
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", q.PID))
	line := bytes.TrimRight(bytes.ReplaceAll(args, []byte{0}, []byte{' '}), " ")
	if err != nil || !slices.ContainsFunc(d.patterns, func(p *regexp.Regexp) bool { return p.Match(line) }) {
		return false
	}
	d.found = append(d.found, q)
	return true
}

// leads reports whether one that was found leads that group.
func (d *daemons) leads(group int) bool {
	return slices.ContainsFunc(d.found, func(q Proc) bool { return q.PID == group })
}
