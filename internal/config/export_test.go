package config

import "math"

// Measured reports whether values of a setting can be compared.
func Measured(name string) bool {
	return name == "jitter" || !math.IsNaN(measure(name, new(Settings)))
}
