// Package browser shows belay ui in a real Chromium, for its tests and for the pictures of the docs. It is a module of its own, so that what
// drives the browser is no dependency of Belay.
package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Chromium is where the browser is; empty if there is none.
func Chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// Site is belay ui, which runs.
type Site struct {
	Address string // with a token that is good once
	cmd     *exec.Cmd
}

// Serve starts belay ui.
func Serve(belay string, env []string, args ...string) (*Site, error) {
	s := &Site{cmd: exec.Command(belay, append([]string{"ui", "--no-open"}, args...)...)}
	s.cmd.Env, s.cmd.Stderr = env, os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, err
	}
	for _, word := range strings.Fields(line) {
		if strings.HasPrefix(word, "http://") {
			s.Address = word
			return s, nil
		}
	}
	return nil, fmt.Errorf("belay ui says %q", line)
}

// Origin is the address without the token.
func (s *Site) Origin() string {
	origin, _, _ := strings.Cut(s.Address, "/#")
	return origin
}

// Stop ends it.
func (s *Site) Stop() error {
	s.cmd.Process.Signal(os.Interrupt)
	var exit *exec.ExitError
	if err := s.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return err
	}
	return nil
}

// Tab is a page in a browser.
type Tab struct {
	context.Context

	mu       sync.Mutex
	requests []string // what it has asked for
	said     []string // errors that it has printed
}

// Open starts a browser.
func Open(ctx context.Context) (*Tab, context.CancelFunc) {
	home, _ := os.MkdirTemp("", "belay-chromium-*")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(Chromium()), chromedp.NoSandbox, chromedp.UserDataDir(home),
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("hide-scrollbars", true), chromedp.Flag("force-color-profile", "srgb"))
	alloc, endAlloc := chromedp.NewExecAllocator(ctx, options...)
	c, end := chromedp.NewContext(alloc, chromedp.WithErrorf(func(string, ...any) {})) // which complains of events that it does not know
	t := &Tab{Context: c}
	chromedp.ListenTarget(c, func(e any) {
		t.mu.Lock()
		defer t.mu.Unlock()
		switch e := e.(type) {
		case *network.EventRequestWillBeSent:
			t.requests = append(t.requests, e.Request.URL)
		case *page.EventJavascriptDialogOpening:
			t.said = append(t.said, "a dialog: "+e.Message)
		}
	})
	listenConsole(t)
	return t, func() { end(); endAlloc(); os.RemoveAll(home) }
}

// Requests are the addresses that the page has asked for, and Said the errors that it has printed.
func (t *Tab) Requests() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string{}, t.requests...)
}
func (t *Tab) Said() []string { t.mu.Lock(); defer t.mu.Unlock(); return append([]string{}, t.said...) }

// Size sets how large the page is, and whether the system is dark.
func (t *Tab) Size(width, height int64, dark bool) error {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	return chromedp.Run(t, emulation.SetDeviceMetricsOverride(width, height, 1, width < 600),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// Picture is what the page looks like: all of it as PNG, or what of it is seen as WebP, which is small.
func (t *Tab) Picture(path string, all bool) error {
	var data []byte
	take := chromedp.FullScreenshot(&data, 100)
	if !all {
		take = chromedp.ActionFunc(func(ctx context.Context) (err error) {
			data, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatWebp).WithQuality(80).Do(ctx)
			return err
		})
	}
	if err := chromedp.Run(t, take); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// Until waits for a piece of JavaScript to be true.
func (t *Tab) Until(what, js string) error {
	ctx, cancel := context.WithTimeout(t, time.Minute)
	defer cancel()
	var ok bool
	if err := chromedp.Run(ctx, chromedp.Poll("Boolean("+js+")", &ok, chromedp.WithPollingInterval(30*time.Millisecond))); err != nil {
		var text string
		chromedp.Run(t, chromedp.Evaluate("document.body.innerText", &text))
		return fmt.Errorf("%s: %w; the page says\n%.3000s\n%v", what, err, text, t.Said())
	}
	return nil
}

// Go opens an address of the page, in the session that it has.
func (t *Tab) Go(address string) error { return chromedp.Run(t, chromedp.Navigate(address)) }
