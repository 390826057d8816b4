package gatefile

import "testing"

// A key that names a device on Windows cannot be the name of a file there.
func TestIsDevice(t *testing.T) {
	for name, want := range map[string]bool{"con": true, "nul": true, "aux.json": true, "com1": true, "lpt9.x": true, "console": false, "com": false, "com10": false, "api": false, "": false} {
		if isDevice(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
