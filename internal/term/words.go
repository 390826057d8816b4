package term

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Tilde returns a path below the home directory with ~.
func Tilde(path string) string {
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); err == nil && ok && home != "" {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

// SizeUnits are the units of [Size], smallest first.
var SizeUnits = []string{"B", "KB", "MB", "GB", "TB"}

// Size returns a number of bytes in the unit that suits it.
func Size(n int64) string {
	f, i := float64(n), 0
	for ; f >= 1024 && i < len(SizeUnits)-1; i++ {
		f /= 1024
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", f, SizeUnits[i])
}
