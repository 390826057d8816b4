package input

import "os"

// unreadBytes is not known here: whatever was written counts as read.
func unreadBytes(*os.File) int64 { return 0 }
