package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
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
	for _, doc := range []string{"README.md", "LICENSE", "CHANGELOG.md"} {
		add(doc, filepath.Join(r.root, doc), 0o644)
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
