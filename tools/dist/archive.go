package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// content is a file in an archive or a package.
type content struct {
	path string // in the archive
	mode int64
	data []byte
}

// archiveName is what the archive of a platform is called.
func (r *release) archiveName(p platform) string {
	name := fmt.Sprintf("%s_%s_%s_%s", name, r.Version, p.os, p.arch)
	if p.os == "windows" {
		return name + ".zip"
	}
	return name + ".tar.gz"
}

// archive packs the executables of a platform with man pages, completions and licences.
func (r *release) archive(p platform) error {
	files, err := r.contents(p)
	if err != nil {
		return err
	}
	pack := packTar
	if p.os == "windows" {
		pack = packZip
	}
	data, err := pack(r, fmt.Sprintf("%s_%s_%s_%s/", name, r.Version, p.os, p.arch), files)
	if err != nil {
		return err
	}
	return r.add(r.archiveName(p), data)
}

// contents are the files of an archive, by path.
func (r *release) contents(p platform) (files []content, err error) {
	add := func(to, from string, mode int64) {
		data, failed := os.ReadFile(from)
		if failed != nil {
			err = failed
		}
		files = append(files, content{to, mode, data})
	}
	for _, e := range p.executables() {
		add("bin/"+e, r.built(p, e), 0o755)
	}
	add("LICENSE", filepath.Join(r.root, "LICENSE"), 0o644)
	docs, failed := r.docs()
	if failed != nil {
		return nil, failed
	}
	files = append(files, docs...)
	installer, failed := r.installer()
	if failed != nil {
		return nil, failed
	}
	if p.os != "windows" {
		files = append(files, content{installerName, 0o755, installer})
	}
	notices, failed := r.notices(p)
	if failed != nil {
		return nil, failed
	}
	files = append(files, content{noticesName, 0o644, notices})
	walkErr := filepath.WalkDir(r.work, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(r.work, path)
		rel = filepath.ToSlash(rel)
		switch {
		case strings.HasPrefix(rel, "man/") && p.os != "windows":
			add("share/man/man1/"+rel[len("man/"):], path, 0o644)
		case strings.HasPrefix(rel, "completions/"):
			add("share/"+rel, path, 0o644)
		}
		return err
	})
	if err == nil {
		err = walkErr
	}
	slices.SortFunc(files, func(a, b content) int { return strings.Compare(a.path, b.path) })
	return files, err
}

// docs are the documentation with the examples that it leads to, by the paths of the repository, so that its links hold in every package.
func (r *release) docs() (files []content, err error) {
	root := os.DirFS(r.root)
	for _, top := range []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "examples"} {
		err = errors.Join(err, fs.WalkDir(root, top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			file := content{path, 0o644, nil}
			if info, err := d.Info(); err != nil {
				return err
			} else if info.Mode()&0o100 != 0 {
				file.mode = 0o755
			}
			file.data, err = fs.ReadFile(root, path)
			files = append(files, file)
			return err
		}))
	}
	return files, err
}

// installerName is the script that installs: from an unpacked archive, from a clone, or from the place of a release.
const installerName = "install.sh"

// installer is the script with the version that it installs.
func (r *release) installer() ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(r.root, installerName))
	if err != nil {
		return nil, err
	}
	const blank = "version='' # make dist fills it in\n"
	if bytes.Count(text, []byte(blank)) != 1 {
		return nil, fmt.Errorf("%s has no line %q", installerName, blank)
	}
	return bytes.Replace(text, []byte(blank), []byte("version='"+r.Version+"'\n"), 1), nil
}

func packTar(r *release, top string, files []content) ([]byte, error) {
	var b bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(zipped)
	for _, f := range files {
		h := &tar.Header{Name: top + f.path, Mode: f.mode, Size: int64(len(f.data)), ModTime: r.time, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	err = zipped.Close()
	return b.Bytes(), err
}

func packZip(r *release, top string, files []content) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: top + f.path, Method: zip.Deflate, Modified: r.time}
		h.SetMode(fs.FileMode(f.mode))
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}
