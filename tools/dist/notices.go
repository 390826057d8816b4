package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// noticesName is the file with the licences of what is linked into the executables, in every package that has them.
const noticesName = "THIRD-PARTY-NOTICES.txt"

// module is one that is linked into the executables, or the standard library.
type module struct {
	path, version, dir string
	license            string // as SPDX names it
}

const stdlib = "stdlib"

// modules are those that are linked for a platform, by path.
func (r *release) modules(p platform) ([]module, error) {
	if list, ok := r.linkedModules[p]; ok {
		return list, nil
	}
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/belay", "./cmd/belayd")
	cmd.Dir, cmd.Stderr = r.root, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	lines := strings.Split(string(out), "\n")
	slices.Sort(lines)
	var list []module
	for _, line := range slices.Compact(lines) {
		if f := strings.Split(line, "\t"); len(f) == 3 { // packages of Go and of Belay have no module, or ours
			list = append(list, module{path: f[0], version: f[1], dir: f[2]})
		}
	}
	cmd = exec.Command("go", "env", "GOROOT", "GOVERSION")
	cmd.Dir = r.root
	if out, err = cmd.Output(); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	root, version, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	list = append(list, module{path: stdlib, version: strings.TrimPrefix(version, "go"), dir: root})
	for i := range list {
		if list[i].license, err = list[i].identify(); err != nil {
			return nil, err
		}
	}
	if r.linkedModules == nil {
		r.linkedModules = map[platform][]module{}
	}
	r.linkedModules[p] = list
	return list, nil
}

// legal are the names of files that have to be passed on with a module.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents)`)

// texts are the files of a module that have to be passed on, by name, the licence first.
func (m *module) texts() (names []string, err error) {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Type().IsRegular() && legal.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no licence in %s", m.path, m.dir)
	}
	return names, nil
}

// identify says which licence a module has. One that is not known is not packaged: a person has to read it first.
func (m *module) identify() (string, error) {
	names, err := m.texts()
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(filepath.Join(m.dir, names[0]))
	if err != nil {
		return "", err
	}
	if id := licenseOf(string(data)); id != "" {
		return id, nil
	}
	return "", fmt.Errorf("the licence of %s %s is not known; read %s, and add it to licenses", m.path, m.version, filepath.Join(m.dir, names[0]))
}

// licenses are told by a sentence in their texts; the first that fits counts.
var licenses = []struct{ id, sentence string }{
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"Apache-2.0", "apache license version 2.0"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"BSD-3-Clause", "may be used to endorse or promote products derived from"},
	{"BSD-2-Clause", "redistributions in binary form must reproduce the above copyright notice"},
}

func licenseOf(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, l := range licenses {
		if strings.Contains(text, l.sentence) {
			return l.id
		}
	}
	return ""
}

// expression is the licence of Belay with what is linked into it.
func expression(list []module) string {
	ids := []string{license}
	for _, m := range list {
		ids = append(ids, m.license)
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), " AND ")
}

// notices are the licences of all that is linked for a platform. A text that several have is there once.
func (r *release) notices(p platform) ([]byte, error) {
	list, err := r.modules(p)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "Belay's own licence is in the file LICENSE. Its executables for %s also contain the modules below, under the licences that follow.\nTo get the source of one: go mod download MODULE@VERSION\n\n", p)
	var order []string
	of := map[string][]string{}
	for _, m := range list {
		name := m.path + "@" + m.version
		if m.path == stdlib {
			name = "The standard library of Go " + m.version
		}
		fmt.Fprintf(&b, "  %s: %s\n", name, m.license)
		names, err := m.texts()
		if err != nil {
			return nil, err
		}
		for _, file := range names {
			data, err := os.ReadFile(filepath.Join(m.dir, file))
			if err != nil {
				return nil, err
			}
			text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
			if of[text] == nil {
				order = append(order, text)
			}
			of[text] = append(of[text], name+", "+file)
		}
	}
	for _, text := range order {
		fmt.Fprintf(&b, "\n%s\n\n  %s\n\n%s\n", strings.Repeat("=", 80), strings.Join(of[text], "\n  "), text)
	}
	return b.Bytes(), nil
}
