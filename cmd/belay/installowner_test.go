//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// refuses runs the installer, which must say one line and leave everything as it is.
func (s *site) refuses(says string, run func(args ...string) (code int, stdout, stderr string)) {
	s.t.Helper()
	before := s.tree("repo", "home")
	for _, what := range []string{"install", "uninstall"} {
		if what == "uninstall" {
			s.write(s.path, earlier[s.text])
			if os.Geteuid() == 0 && s.strange {
				s.chown(s.path)
			}
			before = s.tree("repo", "home")
		}
		code, stdout, stderr := run(s.args(what)...)
		if code != 125 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, says) {
			s.t.Errorf("%s: exit code %d\n%s%s", what, code, stdout, stderr)
		}
		s.unchanged(what+": it", before, "repo", "home")
	}
}

// A file that belongs to another user is not edited, unless it is in a repository that is the other user's.
func TestInstall_StrangersFile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give files away")
	}
	for _, i := range append(inRepository, inHome...) {
		t.Run(i.String(), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, i)
			s.strange = true
			s.write(s.path, s.text)
			s.chown(s.path)
			s.refuses("belongs to another user (uid 54321)", s.belay)
		})
	}
}

// Root in a container works on a checkout of a user outside: its files are edited, and stay the user's.
func TestInstall_OwnerStays(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give files away")
	}
	for _, i := range inRepository {
		t.Run(i.String(), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, i)
			s.write(s.path, s.text)
			s.chown(s.at("repo"), filepath.Dir(s.path), s.path)
			for _, what := range []string{"install", "uninstall"} {
				s.does(what)
				var stat syscall.Stat_t
				if err := syscall.Lstat(s.path, &stat); err != nil || stat.Uid != stranger || stat.Gid != stranger || stat.Mode&0o777 != 0o640 {
					t.Errorf("%s: %+v, %v", what, stat, err)
				}
			}
			s.holds(s.path, s.text)
		})
	}
}

// inMounts runs belay where a mount is as the script makes it, in a namespace of its own.
func (s *site) inMounts(script string) func(args ...string) (code int, stdout, stderr string) {
	return func(args ...string) (int, string, string) {
		cmd := s.command("unshare", append([]string{"-m", "sh", "-c", `set -e; f=$1; d=$2; shift 2; ` + script + `; cd repo; exec belay "$@"`, "sh", s.path, filepath.Dir(s.path)}, args...)...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		code := shellCode(cmd.Run())
		return code, out.String(), errs.String()
	}
}

// Settings that cannot be replaced where they are mounted are left as they are, and one line says why.
func TestInstall_Mounts(t *testing.T) {
	if out, err := exec.Command("unshare", "-m", "true").CombinedOutput(); err != nil {
		t.Skipf("no namespaces: %v: %s", err, out)
	}
	for name, mount := range map[string]struct{ script, says string }{
		"ReadOnlyDirectory": {`mount --bind "$d" "$d"; mount -o remount,ro,bind "$d"`, "is on a read-only file system"},
		"File":              {`mount --bind "$f" "$f"`, "it is a mount of its own"},
		"ReadOnlyFile":      {`mount --bind "$f" "$f"; mount -o remount,ro,bind "$f"`, "it is a mount of its own"},
	} {
		for _, i := range []installer{inHome[0], inHome[2], inRepository[0], inRepository[4]} {
			t.Run(name+"/"+i.String(), func(t *testing.T) {
				t.Parallel()
				s := newSite(t, i)
				s.write(s.path, s.text)
				s.refuses(mount.says, s.inMounts(mount.script))
			})
		}
	}
}

// The same of a file that is immutable.
func TestInstall_Immutable(t *testing.T) {
	s := newSite(t, inHome[0])
	s.write(s.path, s.text)
	if out, err := exec.Command("chattr", "+i", s.path).CombinedOutput(); err != nil {
		t.Skipf("no immutable files here: %v: %s", err, out)
	}
	defer exec.Command("chattr", "-i", s.path).Run()
	before := s.tree("home")
	code, stdout, stderr := s.belay(s.args("install")...)
	if code != 125 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "it cannot be replaced") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	s.unchanged("it", before, "home")
}

// The same in a directory that cannot be written to.
func TestInstall_DirectoryNotWritable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write to every directory")
	}
	s := newSite(t, inHome[0])
	s.write(s.path, s.text)
	os.Chmod(filepath.Dir(s.path), 0o500)
	defer os.Chmod(filepath.Dir(s.path), 0o700)
	code, stdout, stderr := s.belay(s.args("install")...)
	if code != 125 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "cannot create a file in ") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	s.holds(s.path, s.text)
}
