package config

import "math"

// Measured reports whether values of a setting can be compared.
func Measured(name string) bool {
	return name == "jitter" || !math.IsNaN(measure(name, new(Settings)))
}

// DefinitionKeys are what a table may say of a CLI.
func DefinitionKeys() []string { return definitionKeys }

// ShippedRead is how many of the profiles that come with the command have been read.
func ShippedRead() int {
	shippedMu.Lock()
	defer shippedMu.Unlock()
	return len(shippedRead)
}
