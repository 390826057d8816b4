package alert

// Config is what a user has set: for all integrations, for some, and where alerts are sent.
type Config struct {
	Settings
	// Per are the settings of single integrations.
	Per map[string]Settings
	// Command is run with each alert, as JSON on its stdin. Webhook is a URL that it is posted to.
	Command []string
	Webhook string
}

// For are the settings of an integration: its own, and those for all where it has none. One that belongs to a kind, as a
// plain command does, is named after the kind, whose settings go between the two.
func (c Config) For(names ...string) Settings {
	s := c.Settings
	for _, name := range names {
		own := c.Per[name]
		if own.Failures != 0 {
			s.Failures = own.Failures
		}
		if own.Within != 0 {
			s.Within = own.Within
		}
	}
	return s
}
