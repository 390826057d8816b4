package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// npmScope is where the packages of the platforms are.
const npmScope = "@belay-run"

// npmNames are npm's words for systems.
var npmNames = map[string]string{"windows": "win32", "amd64": "x64"}

func npmName(text string) string {
	if other, ok := npmNames[text]; ok {
		return other
	}
	return text
}

// npm makes a package a platform, and one that depends on all of them and starts what npm has found to fit. Nothing is
// downloaded when it is installed, and no script runs.
func (r *release) npm(list []platform) error {
	type object = map[string]any
	common := object{"version": r.Version, "license": license, "homepage": homepage, "repository": object{"type": "git", "url": "git+" + homepage + ".git"}}
	own, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	write := func(dir string, more object) error {
		if err := r.add("npm/"+dir+"/LICENSE", own); err != nil { // npm packs it whatever "files" says
			return err
		}
		for key, value := range common {
			more[key] = value
		}
		text, err := json.MarshalIndent(more, "", "  ")
		if err != nil {
			return err
		}
		return r.add("npm/"+dir+"/package.json", append(text, '\n'))
	}
	platforms := object{}
	for _, p := range list {
		system, cpu := npmName(p.os), npmName(p.arch)
		id := system + "-" + cpu
		platforms[npmScope+"/"+id] = r.Version
		if err := write(id, object{"name": npmScope + "/" + id, "description": "belay for " + p.String(), "os": []string{system}, "cpu": []string{cpu}, "files": []string{"bin", noticesName}}); err != nil {
			return err
		}
		notices, err := r.notices(p)
		if err != nil {
			return err
		}
		if err := r.add("npm/"+id+"/"+noticesName, notices); err != nil {
			return err
		}
		for _, e := range p.executables() {
			data, err := os.ReadFile(r.built(p, e))
			if err != nil {
				return err
			}
			to := fmt.Sprintf("npm/%s/bin/%s", id, e)
			if err := r.add(to, data); err != nil {
				return err
			}
			if err := os.Chmod(r.path(to), 0o755); err != nil {
				return err
			}
		}
	}
	if err := r.template("belay.js", "npm/belay/belay.js"); err != nil {
		return err
	}
	docs, err := r.docs()
	for _, f := range docs {
		err = errors.Join(err, r.add("npm/belay/"+f.path, f.data))
	}
	if err != nil {
		return err
	}
	return write("belay", object{"name": npmScope + "/belay", "description": "Belay " + summary, "bin": object{"belay": "belay.js"}, "files": []string{"belay.js", "*.md", "docs", "examples"},
		"engines": object{"node": ">=18"}, "optionalDependencies": platforms})
}
