package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What packages say of the product.
const (
	name        = "belay"
	summary     = "makes calls to agent CLIs, and to the tools around them, dependable"
	description = `Put "belay run --" in front of claude -p, codex exec, gh or any other command:
failures that pass are retried, hangs are ended, nothing is left running, and
what happened and what it cost is on record.`
	homepage   = "https://github.com/belay-run/belay"
	license    = "MIT"
	maintainer = "The Belay authors <maintainers@users.noreply.github.com>"
)

// unreleased is the version of a commit without a tag, as internal/version has it.
const unreleased = "0.1.0-dev"

// platform is a system that Belay is built for.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

var all = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

func find(name string) (platform, error) {
	i := slices.IndexFunc(all, func(p platform) bool { return p.String() == name })
	if i < 0 {
		return platform{}, fmt.Errorf("%s is not one of %v", name, all)
	}
	return all[i], nil
}

// executables of a platform.
func (p platform) executables() []string {
	if p.os == "windows" {
		return []string{"belay.exe", "belayd.exe"}
	}
	return []string{"belay", "belayd"}
}

// release is what is being made.
type release struct {
	Version string
	root    string    // of the repository
	out     string    // where its files go
	work    string    // where they are put together
	time    time.Time // of the commit: that of every file
	linked  bool      // the version was given, and no tag tells it
	sums    map[string]string

	linkedModules map[platform][]module
}

func newRelease(out, version string) (*release, error) {
	root, err := filepath.Abs("..")
	if err != nil {
		return nil, err
	}
	if out, err = filepath.Abs(out); err != nil {
		return nil, err
	}
	r := &release{root: root, out: out, work: filepath.Join(out, ".work"), linked: version != "", sums: map[string]string{}}
	r.Version = cmp.Or(strings.TrimPrefix(version, "v"), r.tag(), unreleased)
	seconds, err := strconv.ParseInt(cmp.Or(os.Getenv("SOURCE_DATE_EPOCH"), r.git("log", "-1", "--format=%ct")), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the time of the commit is not known; set SOURCE_DATE_EPOCH: %w", err)
	}
	r.time = time.Unix(seconds, 0).UTC()
	if err := os.RemoveAll(out); err != nil {
		return nil, err
	}
	return r, os.MkdirAll(r.work, 0o755)
}

// tag is the version by which the commit is tagged; empty if there is none.
func (r *release) tag() string {
	for tag := range strings.SplitSeq(r.git("tag", "--points-at", "HEAD"), "\n") {
		if strings.HasPrefix(tag, "v") {
			return tag[1:]
		}
	}
	return ""
}

// git is what git says; empty where there is no repository.
func (r *release) git(args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.root
	text, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// built is a file that was made for a platform.
func (r *release) built(p platform, name string) string {
	return filepath.Join(r.work, p.os+"_"+p.arch, name)
}

// build makes the executables of a platform. Nothing of the machine gets into them: no path, no C library, no file of Go's that is not the module's.
func (r *release) build(p platform) error {
	args := []string{"build", "-trimpath", "-buildvcs=auto", "-ldflags", "-s -w"}
	if r.linked {
		args[len(args)-1] += " -X github.com/belay-run/belay/internal/version.linked=" + r.Version
	}
	cmd := exec.Command("go", append(args, "-o", r.built(p, "")+"/", "./cmd/belay", "./cmd/belayd")...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.root, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOFLAGS=")
	return cmd.Run()
}

// addDocs makes man pages and completions, which are the same on all systems.
func (r *release) addDocs() error {
	for _, c := range []struct{ args, to string }{
		{"run ./man -o %s", "man"},
		{"run ./completions -o %s", "completions"},
	} {
		cmd := exec.Command("go", strings.Fields(fmt.Sprintf(c.args, filepath.Join(r.work, c.to)))...)
		cmd.Dir, cmd.Stderr = filepath.Join(r.root, "tools"), os.Stderr
		cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()))
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", c.to, err)
		}
	}
	return nil
}

// add writes a file of the release.
func (r *release) add(name string, data []byte) error {
	sum := sha256.Sum256(data)
	r.sums[name] = hex.EncodeToString(sum[:])
	if err := os.MkdirAll(filepath.Dir(r.path(name)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(r.path(name), data, 0o644)
}

// writeChecksums writes those of all files that can be downloaded, as sha256sum does.
func (r *release) writeChecksums() error {
	var names []string
	for name := range r.sums {
		if !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s  %s\n", r.sums[name], name)
	}
	return os.WriteFile(r.path("checksums.txt"), []byte(b.String()), 0o644)
}
