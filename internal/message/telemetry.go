package message

import "fmt"

// MetricsNotWritten says that the file for a collector of metrics cannot be written.
func MetricsNotWritten(path string, err error) string {
	return fmt.Sprintf("cannot write metrics to %s: %v", path, err)
}
