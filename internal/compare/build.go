//go:build linux

package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// export writes the files of a commit to dir. It leaves nothing in the repository, unlike a work tree or a branch.
func export(ctx context.Context, tree, commit, dir string) error {
	cmd := exec.CommandContext(ctx, "git", "-C", tree, "archive", "--format=tar", commit)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := errors.Join(unpack(out, dir), cmd.Wait()); err != nil {
		return fmt.Errorf("git archive %s: %w", commit, err)
	}
	return nil
}

func unpack(r io.Reader, dir string) error {
	for files := tar.NewReader(r); ; {
		h, err := files.Next()
		if err == io.EOF {
			_, err = io.Copy(io.Discard, r) // git fills its last block
			return err
		}
		if err != nil {
			return err
		}
		path := filepath.Join(dir, h.Name)
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755)
		case tar.TypeSymlink:
			err = os.Symlink(h.Linkname, path)
		case tar.TypeReg:
			err = extract(path, files, h.FileInfo().Mode())
		}
		if err != nil {
			return err
		}
	}
}

func extract(path string, from io.Reader, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

// build makes belay and belayd of a tree.
func build(ctx context.Context, tree, bin string) error {
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	return run(ctx, tree, "go", "build", "-trimpath", "-buildvcs=false", "-o", bin+"/", "./cmd/belay", "./cmd/belayd")
}

// run runs a command in dir.
func run(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// link makes dir/name run this executable, which takes the name for its part.
func link(dir string, names ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
