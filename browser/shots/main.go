// Command shots takes the pictures of belay ui that are in docs/ui.md, light and dark. What they show comes from rehearsals with the real agents, of which the
// past ones are put on record many times, at other times of the last two weeks.
//
//	go run -C browser ./shots -o ../docs ../bin/belay CLAUDE CODEX
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/belay-run/belay/browser"
)

func main() {
	to := flag.String("o", "shots", "the directory for the pictures")
	flag.Parse()
	if flag.NArg() != 3 {
		log.Fatal("usage: shots [-o DIR] BELAY CLAUDE CODEX")
	}
	if browser.Chromium() == "" {
		log.Fatal("there is no Chromium; scripts/setup-tests installs it")
	}
	s, err := newStage(flag.Arg(0), flag.Arg(1), flag.Arg(2))
	if err == nil {
		err = errorOf(s.play, func() error { return take(s, *to) })
		s.strike()
	}
	if err != nil {
		log.Fatal(err)
	}
}

// errorOf is the first error of functions that are called one after the other.
func errorOf(functions ...func() error) error {
	for _, f := range functions {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// take takes the pictures.
func take(s *stage, to string) error {
	site, err := browser.Serve(s.belay, s.env)
	if err != nil {
		return err
	}
	defer site.Stop()
	tab, end := browser.Open(context.Background())
	defer end()
	if err := errorOf(
		func() error { return tab.Go(site.Address) },
		func() error { return tab.Until("entered", `document.querySelector("#live .live")`) },
		func() error { return tab.Until("folded", `document.getElementById("fold").hidden`) },
	); err != nil {
		return err
	}
	for _, view := range []struct{ name, query, ready string }{
		{"now", "view=now", `document.querySelectorAll("[data-run]").length >= 4`},
		{"past", "view=past", `document.querySelectorAll("tbody tr").length > 9`},
		{"run", "view=run&id=" + s.story, `document.querySelector("main h2")`},
		{"batches", "view=batches", `document.querySelectorAll("[data-batch]").length === 2`},
		{"spend", "view=spend&since=14d", `document.querySelector("main svg")`},
		{"health", "view=health&since=14d", `document.querySelector("main svg")`},
	} {
		if err := errorOf(
			func() error { return tab.Go(site.Origin() + "/?" + view.query) },
			func() error {
				return tab.Until(view.name, `!document.querySelector("[data-loading]") && document.querySelector("#live .live") && `+view.ready)
			},
		); err != nil {
			return err
		}
		for _, scheme := range []string{"light", "dark"} {
			if err := errorOf(
				func() error { return tab.Size(1200, 900, scheme == "dark") },
				func() error {
					return tab.Picture(filepath.Join(to, fmt.Sprintf("ui-%s-%s.webp", view.name, scheme)), false)
				},
			); err != nil {
				return err
			}
		}
	}
	if said := tab.Said(); len(said) > 0 {
		return fmt.Errorf("the browser complains: %q", said)
	}
	for _, name := range []string{"now", "past", "run", "batches", "spend", "health"} {
		for _, scheme := range []string{"light", "dark"} {
			info, err := os.Stat(filepath.Join(to, fmt.Sprintf("ui-%s-%s.webp", name, scheme)))
			if err != nil {
				return err
			}
			log.Printf("%s: %d bytes", info.Name(), info.Size())
		}
	}
	return nil
}
