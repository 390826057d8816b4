package main

import (
	"bytes"
	"embed"
	"text/template"
	"unicode"
)

//go:embed templates
var sources embed.FS

// templates makes what others read of the release: a formula for Homebrew and a container file.
func (r *release) templates() error {
	for from, to := range map[string]string{"formula.rb": "belay.rb", "Containerfile": "Containerfile"} {
		if err := r.template(from, to); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) template(from, to string) error {
	functions := template.FuncMap{
		"systems": r.brewSystems,
		"title":   func(s string) string { return string(unicode.ToUpper(rune(s[0]))) + s[1:] },
	}
	t, err := template.New(from).Delims("[[", "]]").Funcs(functions).ParseFS(sources, "templates/"+from)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	values := map[string]string{"Version": r.Version, "Summary": summary, "Description": description, "Homepage": homepage, "License": license, "Scope": npmScope}
	if err := t.Execute(&b, values); err != nil {
		return err
	}
	return r.add(to, b.Bytes())
}

// brewSystem is one that Homebrew knows, and what it calls it.
type brewSystem struct {
	Name  string
	Archs []brewArchive
}

type brewArchive struct{ Name, URL, Sum string }

// brewSystems are those that have been built.
func (r *release) brewSystems() (list []brewSystem) {
	for _, system := range []struct{ os, name string }{{"darwin", "macos"}, {"linux", "linux"}} {
		s := brewSystem{Name: system.name}
		for _, cpu := range []struct{ arch, name string }{{"amd64", "intel"}, {"arm64", "arm"}} {
			archive := r.archiveName(platform{system.os, cpu.arch})
			if sum := r.sums[archive]; sum != "" {
				s.Archs = append(s.Archs, brewArchive{cpu.name, homepage + "/releases/download/v" + r.Version + "/" + archive, sum})
			}
		}
		if s.Archs != nil {
			list = append(list, s)
		}
	}
	return list
}
