// Command dist makes the files of a release: archives for six platforms, packages, checksums, a list of what is in them, and
// what package managers and installers need. All of it is made of the same data, and two runs on one commit give equal bytes.
//
//	go run ./dist -o ../dist                      # everything
//	go run ./dist -o ../dist -platforms linux/amd64
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	out := flag.String("o", "../dist", "the directory that is made anew")
	platforms := flag.String("platforms", "", "OS/ARCH,… to build for; all if empty")
	version := flag.String("version", "", "the version, where no tag of the commit tells it")
	nfpm := flag.String("nfpm", "", "the nfpm executable that makes deb and rpm; none are made without it")
	flag.Parse()
	if err := run(*out, *platforms, *version, *nfpm); err != nil {
		log.Fatalf("dist: %v", err)
	}
}

func run(out, platforms, version, nfpm string) error {
	list, err := choose(platforms)
	if err != nil {
		return err
	}
	r, err := newRelease(out, version)
	if err != nil {
		return err
	}
	for _, p := range list {
		if err := r.build(p); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	if err := r.addDocs(); err != nil {
		return err
	}
	for _, p := range list {
		if err := r.archive(p); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if nfpm != "" && p.os == "linux" {
			if err := r.packages(p, nfpm); err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
		}
	}
	if err := r.sbom(list); err != nil {
		return err
	}
	if err := r.npm(list); err != nil {
		return err
	}
	if err := r.templates(); err != nil {
		return err
	}
	installer, err := r.installer()
	if err == nil {
		err = r.add(installerName, installer)
	}
	if err != nil {
		return err
	}
	if err := r.writeChecksums(); err != nil {
		return err
	}
	log.Printf("dist: %s: %d files", r.Version, len(r.sums))
	return os.RemoveAll(r.work)
}

// choose is the list of platforms that were asked for.
func choose(text string) ([]platform, error) {
	if text == "" {
		return all, nil
	}
	var list []platform
	for name := range strings.SplitSeq(text, ",") {
		p, err := find(name)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// path is where a file of the release goes.
func (r *release) path(name string) string { return filepath.Join(r.out, name) }
