// Command shots takes pictures of belay ui.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"strings"

	"github.com/belay-run/belay/browser"
)

func main() {
	belay := flag.String("belay", "bin/belay", "")
	to := flag.String("o", "shots", "")
	only := flag.String("only", "now past spend health", "")
	sizes := flag.String("sizes", "1440l 1440d 390l 390d", "")
	flag.Parse()
	site, err := browser.Serve(*belay, os.Environ())
	if err != nil {
		log.Fatal(err)
	}
	defer site.Stop()
	tab, end := browser.Open(context.Background())
	defer end()
	check := func(err error) {
		if err != nil {
			log.Print(err)
		}
	}
	check(tab.Go(site.Address))
	check(tab.Until("entered", `document.querySelector("#live .live")`))
	check(tab.Until("folded", `document.getElementById("fold").hidden`))
	for _, view := range strings.Fields(*only) {
		check(tab.Go(site.Origin() + "/?view=" + view))
		check(tab.Until(view, `document.querySelector("main h1") && !document.querySelector("[data-loading]") && document.querySelector("#live .live")`))
		for _, size := range strings.Fields(*sizes) {
			width, height := int64(1440), int64(900)
			if strings.HasPrefix(size, "390") {
				width, height = 390, 844
			}
			check(tab.Size(width, height, strings.HasSuffix(size, "d")))
			check(tab.Picture(*to+"/"+strings.NewReplacer("&", "-", "=", "-", "/", "").Replace(view)+"-"+size+".png", true))
		}
	}
	log.Print(tab.Said())
}
