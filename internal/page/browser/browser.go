// Package browser opens the page in the user's browser.
package browser

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/supervise"
)

// Open opens a browser with a file, in that directory, that posts a ticket: an argument could be read by other users, a file of mode 0600 cannot.
func Open(dir, at string, ticket func() string) (removed func(), err error) {
	opener, args, err := find()
	if err != nil {
		return nil, err
	}
	if err := safefile.MakeOwnDir(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "open-"+strconv.Itoa(os.Getpid())+".html")
	os.Remove(path)
	if err := safefile.WriteOwn(path, entryFile(at, ticket())); err != nil {
		return nil, err
	}
	remove := func() { os.Remove(path) }
	if err := supervise.Detach(opener, append(append([]string{opener}, args...), path)); err != nil {
		remove()
		return nil, err
	}
	timer := time.AfterFunc(time.Minute, remove)
	return func() { timer.Stop(); remove() }, nil
}

// entryFile is a page that posts a ticket at once. Address and ticket have nothing in them that HTML would read.
func entryFile(at, ticket string) []byte {
	action, _ := json.Marshal(at + "/enter") // a text always has a form
	return []byte(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>belay ui</title>
<form method="post" action=` + string(action) + `><input type="hidden" name="token" value="` + ticket + `"><button>Open belay ui</button></form>
<script>document.forms[0].submit()</script></html>
`)
}

// find finds the command that opens a file in the user's browser.
func find() (path string, args []string, err error) {
	name := "xdg-open"
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler"}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" && os.Getenv("BROWSER") == "" {
			return "", nil, errors.New("there is no desktop here")
		}
	}
	if own := os.Getenv("BROWSER"); own != "" && !strings.ContainsAny(own, " :%") {
		name, args = own, nil
	}
	path, err = supervise.Look(name, "")
	return path, args, err
}
