package config

import "math"

// Measured reports whether values of a setting can be compared.
func Measured(name string) bool {
	return name == "jitter" || !math.IsNaN(measure(name, new(Settings)))
}

// DefinitionKeys are what a table may say of a CLI.
func DefinitionKeys() []string { return definitionKeys }
