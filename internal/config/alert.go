package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/message"
)

// readAlerts reads the table [alert] of the user's file: thresholds for all, tables of single integrations, and where alerts are sent.
func readAlerts(t *fields) alert.Config {
	a := alert.Config{Settings: thresholds(t), Command: read(t, "command", commandLine), Webhook: read(t, "webhook", webhook),
		Per: map[string]alert.Settings{}}
	a.Forecast = t.flag("forecast")
	own := slices.DeleteFunc(t.keys(), func(key string) bool { return slices.Contains(t.asked, key) })
	for _, name := range own {
		if _, isTable := t.table[name].(map[string]any); !isTable {
			t.fail(name, message.Error(message.UnknownKey(name, "failures", "within", "forecast", "command", "webhook", "tables such as [alert.claude]")))
		}
		if near := message.Nearest(name, Profiles()); near != "" && near != name { // any other name may be that of a command
			t.fail(name, checkProfile(name))
		}
		of := t.inner(name)
		a.Per[name] = thresholds(of)
		of.close()
	}
	return a
}

func thresholds(t *fields) alert.Settings {
	return alert.Settings{
		Failures: parsed(t, "failures", func(text string) (int, error) {
			n, err := parseNumber(text, 0, 1000)
			if n == 0 {
				n = -1 // no number of failures raises an alert
			}
			return n, err
		}),
		Within: parsed(t, "within", func(text string) (time.Duration, error) {
			d, err := ParseDuration(text)
			if err == nil && d == 0 {
				err = message.Error("must be longer than 0")
			}
			return d, err
		}),
	}
}

// commandLine reads a command: a list, for there is no shell that could split a text.
func commandLine(value any) ([]string, error) {
	args, err := arguments(value, message.MustBeList())
	if err == nil && len(args) == 0 {
		err = message.Error(message.MustBeList())
	}
	return args, err
}

// arguments reads a list of texts, which may be empty; must says so where it is not one.
func arguments(value any, must string) ([]string, error) {
	list, ok := value.([]any)
	if !ok {
		return nil, message.Error(must)
	}
	args := []string{}
	for _, v := range list {
		text, ok := v.(string)
		if !ok {
			return nil, message.Error(message.NotAString(v))
		}
		args = append(args, text)
	}
	return args, nil
}

func webhook(value any) (string, error) {
	text, _ := value.(string)
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", message.Error(fmt.Sprintf("%q is not a URL, such as https://example.com/hook", strings.TrimSpace(text)))
	}
	return text, nil
}
