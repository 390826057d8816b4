package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// packages makes deb and rpm of the files of a Linux platform, by nfpm.
func (r *release) packages(p platform, nfpm string) error {
	dir := filepath.Join(r.work, "package_"+p.arch)
	files, err := r.contents(p)
	if err != nil {
		return err
	}
	for _, kind := range []string{"deb", "rpm"} {
		config, err := r.packageConfig(p, kind, filepath.Join(dir, kind), files)
		if err != nil {
			return err
		}
		made := filepath.Join(dir, packageName(r.Version, p, kind))
		cmd := exec.Command(nfpm, "package", "--config", config, "--packager", kind, "--target", made)
		cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("nfpm: %w\n%s", err, out)
		}
		data, err := os.ReadFile(made)
		if err != nil {
			return err
		}
		if err := r.add(filepath.Base(made), data); err != nil {
			return err
		}
	}
	return nil
}

// packageName is what the tools of a system call such a file.
func packageName(version string, p platform, kind string) string {
	if kind == "deb" {
		return fmt.Sprintf("%s_%s_%s.deb", name, packageVersion(version), p.arch)
	}
	return fmt.Sprintf("%s-%s.%s.rpm", name, packageVersion(version), map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[p.arch])
}

// packageVersion sorts before the release that it is on the way to: 0.1.0~dev comes before 0.1.0.
func packageVersion(version string) string {
	return strings.NewReplacer("-", "~", "+", ".").Replace(version)
}

// packageConfig writes what nfpm is to do. JSON is YAML.
func (r *release) packageConfig(p platform, kind, dir string, files []content) (string, error) {
	type info struct {
		Mode  int    `json:"mode"`
		MTime string `json:"mtime"`
	}
	type entry struct {
		Source string `json:"src"`
		To     string `json:"dst"`
		Info   info   `json:"file_info"`
	}
	var entries []entry
	stamp := r.time.Format(time.RFC3339)
	add := func(to string, mode int, data []byte) error {
		from := filepath.Join(dir, filepath.FromSlash(to))
		if err := os.MkdirAll(filepath.Dir(from), 0o755); err != nil {
			return err
		}
		entries = append(entries, entry{from, to, info{mode, stamp}})
		return os.WriteFile(from, data, 0o644)
	}
	for _, f := range files {
		to, data := placeInPackage(f.path), f.data
		if to == "" || kind == "deb" && f.path == "LICENSE" { // Debian has it in the file copyright
			continue
		}
		if strings.HasSuffix(to, ".gz") {
			data = zipped(data)
		}
		if err := add(to, int(f.mode), data); err != nil {
			return "", err
		}
	}
	if kind == "deb" {
		changes := fmt.Sprintf("%s (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md at %s\n\n -- %s  %s\n", name, packageVersion(r.Version), homepage, maintainer, r.time.Format(time.RFC1123Z))
		licence, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
		if err != nil {
			return "", err
		}
		for to, data := range map[string][]byte{
			"/usr/share/doc/belay/changelog.gz":  zipped([]byte(changes)),
			"/usr/share/doc/belay/copyright":     debCopyright(string(licence)),
			"/usr/share/lintian/overrides/belay": []byte("# Go executables that need no C library.\nbelay: statically-linked-binary\n"),
		} {
			if err := add(to, 0o644, data); err != nil {
				return "", err
			}
		}
	}
	config := map[string]any{
		"name": name, "arch": p.arch, "platform": "linux", "version": packageVersion(r.Version), "version_schema": "none",
		"section": "utils", "priority": "optional", "maintainer": maintainer, "description": summary + "\n" + description,
		"vendor": "The Belay authors", "homepage": homepage, "mtime": stamp, "contents": entries,
		"rpm": map[string]any{"summary": summary, "group": "Development/Tools", "buildhost": "belay"},
	}
	if kind == "rpm" {
		linked, err := r.modules(p)
		if err != nil {
			return "", err
		}
		config["license"] = expression(linked)
	}
	text, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "nfpm.json")
	return path, os.WriteFile(path, text, 0o644)
}

// placeInPackage is where a file of the archive goes on a system; empty if it stays out.
func placeInPackage(path string) string {
	switch dir, base := filepath.Split(path); dir {
	case "bin/":
		return "/usr/bin/" + base
	case "share/man/man1/":
		return "/usr/share/man/man1/" + base + ".gz"
	case "share/completions/":
		switch base {
		case "belay.bash":
			return "/usr/share/bash-completion/completions/belay"
		case "_belay":
			return "/usr/share/zsh/vendor-completions/_belay"
		case "belay.fish":
			return "/usr/share/fish/vendor_completions.d/belay.fish"
		}
	case "":
		switch base {
		case installerName:
			return ""
		case noticesName:
			return "/usr/share/doc/belay/" + base + ".gz"
		case "LICENSE":
			return "/usr/share/licenses/belay/LICENSE"
		}
	}
	return "/usr/share/doc/belay/" + path
}

// debCopyright is the licence in Debian's form.
func debCopyright(licence string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: %s\nSource: %s\nComment: The executables contain modules of others, whose licences are in\n /usr/share/doc/belay/%s.gz\n\nFiles: *\nCopyright: 2026 The Belay authors\nLicense: MIT\n", name, homepage, noticesName)
	for line := range strings.Lines(licence) {
		if line = strings.TrimSpace(line); line == "" {
			line = "."
		}
		fmt.Fprintf(&b, " %s\n", line)
	}
	return []byte(b.String())
}

// zipped is data as gzip -9n makes it.
func zipped(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	w.Write(data)
	w.Close()
	return b.Bytes()
}
