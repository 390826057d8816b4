//go:build linux

package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// allowances are differences that are wanted: regular expressions that match the line which the report shows of them.
type allowances []*regexp.Regexp

// readAllowances reads a file with one a line. Empty lines and those that begin with # say nothing.
func readAllowances(path string) (list allowances, err error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		re, err := regexp.Compile(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, re)
	}
	return list, nil
}

func (a allowances) has(d difference) bool {
	line := d.String()
	return slices.ContainsFunc(a, func(re *regexp.Regexp) bool { return re.MatchString(line) })
}
