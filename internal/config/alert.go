package config

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/message"
)

// alertConfig reads the table [alert] of the user's file: thresholds for all, tables of single integrations, and where
// alerts are sent. The key of what is wrong is returned beside the error.
func alertConfig(v any) (c alert.Config, key string, err error) {
	table, ok := v.(map[string]any)
	if !ok {
		return c, "alert", message.Error(message.MustBeTable("[alert]"))
	}
	c.Per = map[string]alert.Settings{}
	for name, value := range table {
		key = "alert." + name
		switch name {
		case "failures", "within":
			err = setThreshold(&c.Settings, name, value)
		case "command":
			c.Command, err = commandLine(value)
		case "webhook":
			c.Webhook, err = webhook(value)
		default:
			own, ok := value.(map[string]any)
			if !ok {
				return c, key, message.Error(message.UnknownKey("failures", "within", "command", "webhook", "tables such as [alert.claude]"))
			}
			if near := Nearest(name, Profiles()); near != "" && near != name { // any other name may be that of a command
				return c, key, checkProfile(name)
			}
			var s alert.Settings
			for k, v := range own {
				if err := setThreshold(&s, k, v); err != nil {
					return c, key + "." + k, err
				}
			}
			c.Per[name] = s
		}
		if err != nil {
			return c, key, err
		}
	}
	return c, "", nil
}

func setThreshold(s *alert.Settings, key string, value any) error {
	text, err := flat(value)
	if err != nil {
		return err
	}
	switch key {
	case "failures":
		if s.Failures, err = parseNumber(text, 0, 1000); err == nil && s.Failures == 0 {
			s.Failures = -1 // no number of failures raises an alert
		}
	case "within":
		if s.Within, err = ParseDuration(text); err == nil && s.Within == 0 {
			err = message.Error("must be longer than 0")
		}
	default:
		err = message.Error(message.UnknownKey("failures", "within"))
	}
	return err
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
