package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every module that is linked is named with its licence, and the whole text of that is there.
func TestNotices(t *testing.T) {
	r := &release{root: "../.."}
	p := platform{"linux", "amd64"}
	text, err := r.notices(p)
	if err != nil {
		t.Fatal(err)
	}
	list, err := r.modules(p)
	if err != nil || len(list) < 20 {
		t.Fatal(list, err)
	}
	for _, m := range list {
		names, err := m.texts()
		if err != nil {
			t.Error(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(filepath.Join(m.dir, name))
			if whole := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n")); err != nil || !strings.Contains(string(text), "\n"+whole+"\n") {
				t.Errorf("%s of %s is not passed on: %v", name, m.path, err)
			}
		}
	}
	for _, want := range []string{"  github.com/riverqueue/river@v", ": MPL-2.0\n", "  github.com/spf13/cobra@v", ": Apache-2.0\n", "  The standard library of Go 1.", ": BSD-3-Clause\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if n := strings.Count(string(text), "\nMozilla Public License Version 2.0\n"); n != 1 {
		t.Errorf("a text that several modules have is there %d times", n)
	}
	if e := expression(list); e != "Apache-2.0 AND BSD-3-Clause AND MIT AND MPL-2.0" {
		t.Errorf("the licence of all is %s: read what is new, then change this", e)
	}
	if strings.Contains(string(text), list[0].dir) {
		t.Error("a path of this machine is in it")
	}
}

// A licence that is not known is not packaged.
func TestModule_Identify(t *testing.T) {
	dir := t.TempDir()
	m := module{path: "example.com/m", version: "v1.0.0", dir: dir}
	if _, err := m.identify(); err == nil || !strings.Contains(err.Error(), "has no licence") {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"All rights reserved.\n": "",
		"Permission is hereby granted, free of charge,\nto any person obtaining a copy":                                                                 "MIT",
		"Redistributions in binary form must reproduce the above\n// copyright notice":                                                                  "",
		"Redistributions in binary form must reproduce the above copyright notice":                                                                      "BSD-2-Clause",
		"Redistributions in binary form must reproduce the above copyright notice. may be\nused to endorse or promote products derived from":            "BSD-3-Clause",
		"                                 Apache License\n                           Version 2.0, January 2004\n":                                       "Apache-2.0",
		"Permission to use, copy, modify, and distribute this software for any\npurpose with or without fee is hereby granted, provided that the above": "ISC",
	} {
		if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := m.identify(); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}
