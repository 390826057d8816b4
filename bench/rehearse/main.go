// Command rehearse runs many scenarios of belay rehearse test side by side. Each program takes a second, most of which it waits, so it is known how long all
// of them take where nothing is lost between them; what is printed is how much longer it was.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

func main() {
	bin := flag.String("bin", "bin", "where belay is")
	scenarios := flag.Int("scenarios", 200, "how many there are")
	atATime := flag.Int("j", 8, "how many run side by side")
	rounds := flag.Int("rounds", 3, "how often all of them are run")
	flag.Parse()
	dir, err := os.MkdirTemp("", "belay-bench-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "wait.toml")
	text := "shell = \"sleep 1\"\n[expect]\nexit = 0\n[vary.number]\n"
	for i := range *scenarios {
		text += fmt.Sprintf("%d = {}\n", i)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	ideal := time.Duration((*scenarios+*atATime-1) / *atATime) * time.Second
	var ratios []float64
	for range *rounds {
		begun := time.Now()
		if out, err := exec.Command(filepath.Join(*bin, "belay"), "rehearse", "test", "-j", fmt.Sprint(*atATime), file).CombinedOutput(); err != nil {
			log.Fatalf("%v\n%s", err, out)
		}
		ratios = append(ratios, time.Since(begun).Seconds()/ideal.Seconds())
	}
	slices.Sort(ratios)
	fmt.Printf("rehearse test: %d scenarios of a second, %d at a time: median %.2f of the ideal %s (%.2f to %.2f)\n", *scenarios, *atATime, ratios[len(ratios)/2], ideal,
		ratios[0], ratios[len(ratios)-1])
}
