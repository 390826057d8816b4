package config

import (
	"fmt"
	"strings"
)

// suggestion names the setting that was probably meant.
func suggestion(key string) string {
	name := strings.ReplaceAll(key, "_", "-")
	best, distance := "", 4
	for i := range Table {
		if d := edits(name, Table[i].Name); d < distance {
			best, distance = Table[i].Key(), d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// edits is the number of single-character edits between two words.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
