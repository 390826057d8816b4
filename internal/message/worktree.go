package message

import "fmt"

// Changed says how much a run has changed: "2 commits, 3 files, +10 −2".
func Changed(commits, files, added, deleted int) string {
	if files == 0 {
		return "nothing changed"
	}
	return fmt.Sprintf("%s, %s, +%d −%d", Count(commits, "commit"), Count(files, "file"), added, deleted)
}
