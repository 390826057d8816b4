package config_test

import (
	"testing"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/printable"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"100": 100, "1KB": 1024, "500mb": 500 << 20, "1.5 GB": 3 << 29, "2GiB": 2 << 30, "7B": 7, "300M": 300 << 20, "1 t": 1 << 40} {
		if got, err := config.ParseSize(text); err != nil || got != want {
			t.Errorf("%s is %d (%v), want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MB", "-1MB", "0", "x", "1e300TB", "NaN", "inf", "5I", "B", "M5"} {
		if got, err := config.ParseSize(text); err == nil {
			t.Errorf("%q was taken as %d", text, got)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KB", 3 << 29: "1.5 GB"} {
		if got := printable.Size(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
