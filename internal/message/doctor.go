package message

import (
	"fmt"
	"strings"
)

// CLIMissing says that a CLI is not installed.
func CLIMissing() string { return "not found on the PATH" }

// CLIVersion says where a CLI is and which version it has. tested says what is known of that version, if anything.
func CLIVersion(path, version, tested string) string {
	text := fmt.Sprintf("%s, version %s", path, version)
	if tested != "" {
		text += ", " + tested
	}
	return text
}

// CLISilent says that a CLI does not tell its version.
func CLISilent(path string, err error) string {
	return fmt.Sprintf("cannot get the version of %s: %v", path, err)
}

// OthersCanRead says that other users can read what Belay keeps.
func OthersCanRead(path string) string { return "other users can read " + path }

// DiskFree says how much room there is.
func DiskFree(size string) string { return size + " free" }

// DatabaseFine says what is in the database: runs is "12 runs". torn is how many lines of the log were not written to their end.
func DatabaseFine(runs, size string, torn int, older bool) string {
	list := []string{runs + " in " + size}
	if torn > 0 {
		list = append(list, Count(torn, "line")+" of the log cut off by a kill")
	}
	if older {
		list = append(list, "made by an older version, updated by the next query")
	}
	return strings.Join(list, "; ")
}
