package cli

// checkLimits says what keeps Belay from working at all in this process: nothing here.
func checkLimits() error { return nil }
