// Package delivery brings alerts to the user: to the command and the webhook of config.toml, which may be slow or gone. What could not be delivered is
// tried again, by this process or by a later one.
package delivery

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/version"
)

// timeout bounds one delivery, so that a slow receiver does not hold up the command.
const timeout = 10 * time.Second

// Deliver sends the alerts that have not been delivered yet to the command and the webhook of the user's
// configuration. An alert is claimed by one process at a time. A failed delivery is retried a few times here, and then by
// later processes.
func Deliver(ctx context.Context, d *record.DB) error {
	to, err := config.Alerts()
	if err != nil {
		return err
	}
	since, err := d.Alerts.SinkSince(ctx, identityOf(to), configuredAt())
	if err != nil || len(to.Command) == 0 && to.Webhook == "" {
		return err
	}
	for {
		a, ok, err := d.Alerts.Claim(ctx, time.Now(), since)
		if err != nil || !ok {
			return err
		}
		trouble := deliver(ctx, to, a)
		if err := d.Alerts.Delivered(context.WithoutCancel(ctx), a, time.Now(), trouble); err != nil {
			return err
		}
		if trouble != nil {
			select {
			case <-ctx.Done():
				return trouble
			// A little longer than the alert stays claimed: the database counts whole milliseconds.
			case <-time.After(time.Second<<min(a.Tries, 6) + 10*time.Millisecond):
			}
		}
	}
}

// identityOf tells one receiver of alerts from another, without keeping an address that may hold a secret; empty for none.
func identityOf(to alert.Config) string {
	if len(to.Command) == 0 && to.Webhook == "" {
		return ""
	}
	data, _ := json.Marshal([]any{to.Command, to.Webhook}) // texts always have a form
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12])
}

// configuredAt is when the user's file was last changed, in whole seconds: the time of an alert has no more than milliseconds.
func configuredAt() time.Time {
	now := time.Now()
	if info, err := os.Stat(config.UserFile()); err == nil && info.ModTime().Before(now) {
		return info.ModTime().Truncate(time.Second)
	}
	return now.Truncate(time.Second)
}

// alertJSON is an alert for programs. Fields are only ever added.
type alertJSON struct {
	SchemaVersion int       `json:"schema_version"`
	Timestamp     time.Time `json:"timestamp"`
	Integration   string    `json:"integration"`
	Failures      int       `json:"failures"`
	WithinS       float64   `json:"within_s"`
	Error         string    `json:"error"`
	Invocation    string    `json:"invocation"`
	Host          string    `json:"host"`
	Text          string    `json:"text"` // in words, as chat services show it

	Name    string            `json:"name,omitempty"` // and the rest: of the run whose failure has raised it
	Tags    map[string]string `json:"tags,omitempty"`
	Project string            `json:"project,omitempty"`
	record.Task
}

func deliver(ctx context.Context, to alert.Config, a record.Alert) error {
	host, _ := os.Hostname()
	within := time.Duration(a.WithinMS) * time.Millisecond
	a.Integration, a.Message = redact.Text(a.Integration), redact.Text(a.Message) // a log of an older version has less taken out
	text := fmt.Sprintf("%d failures of %s within %s; the last: ", a.Failures, a.Integration, printable.Span(within))
	if a.Failures == 0 { // of a forecast, which says all there is
		text = ""
	}
	body, err := json.Marshal(alertJSON{1, a.Timestamp.UTC(), a.Integration, a.Failures, within.Seconds(), a.Message, a.Invocation, host,
		"belay on " + host + ": " + text + a.Message, redact.Text(a.Name), label.RedactedTags(a.Tags), redact.Text(a.Project),
		record.Task{Batch: redact.Text(a.Batch), Task: redact.Text(a.Task.Task), Line: a.Line}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if len(to.Command) > 0 {
		err = run(ctx, to.Command, body)
	}
	if to.Webhook != "" {
		err = errors.Join(err, post(ctx, to.Webhook, body))
	}
	return err
}

// run runs the command with the alert on its stdin.
func run(ctx context.Context, argv []string, body []byte) error {
	path, err := supervise.Look(argv[0], "")
	if err != nil {
		return message.Error(fmt.Sprintf("alert command: %v", err), err)
	}
	in, err := tempFile(body)
	if err != nil {
		return err
	}
	defer in.Close()
	var said bytes.Buffer
	var s supervise.Supervisor
	exit, err := s.Run(supervise.Spec{Path: path, Args: argv, Env: os.Environ(), Stdin: in, Stderr: &limited{to: &said, left: 4096},
		Placement: supervise.OwnGroup, Timeout: timeout}, func(p *supervise.Process) { context.AfterFunc(ctx, p.Kill) })
	if code := exit.ShellCode(); err == nil && code != 0 {
		err = message.Error(fmt.Sprintf("alert command %s exited %d: %s", argv[0], code, strings.TrimSpace(said.String())))
	}
	return err
}

// tempFile is a file without a name that holds data.
func tempFile(data []byte) (*os.File, error) {
	f, err := os.CreateTemp("", "belay-alert-")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	if _, err = f.Write(data); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
	}
	return f, err
}

// limited keeps the beginning of what is written to it.
type limited struct {
	to   io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.to.Write(p[:n])
	return len(p), nil
}

// post sends the alert to the webhook. Errors contain neither the body of the answer nor the address, which may hold a
// secret.
func post(ctx context.Context, to string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return message.Error(message.AlertWebhook("the address cannot be used"))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "belayd/"+version.String())
	client := http.Client{Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return message.Error(message.AlertWebhook(withoutURL(err)), withoutURL(err))
	}
	defer res.Body.Close()
	io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	if res.StatusCode/100 != 2 {
		return message.Error(message.AlertWebhook("HTTP " + res.Status))
	}
	return nil
}

// withoutURL takes the address off an error of net/http.
func withoutURL(err error) error {
	if wrong, ok := errors.AsType[*url.Error](err); ok {
		return wrong.Err
	}
	return err
}
