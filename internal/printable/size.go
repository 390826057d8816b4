package printable

import "fmt"

// sizeUnits are the units of [Size], smallest first.
var sizeUnits = []string{"B", "KB", "MB", "GB", "TB"}

// Size returns a number of bytes in the unit that suits it.
func Size(n int64) string {
	f, i := float64(n), 0
	for ; f >= 1024 && i < len(sizeUnits)-1; i++ {
		f /= 1024
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", f, sizeUnits[i])
}
