package agent

import (
	"runtime"
	"slices"
	"strings"
)

// Getenv is the value of a variable in an environment as [os.Environ] returns it; empty if it is not set. Of several values
// the last one counts, as for os/exec. A nil environment is empty, not that of this process.
func Getenv(env []string, name string) string {
	for _, variable := range slices.Backward(env) {
		if value, ok := valueOf(variable, name, runtime.GOOS == "windows"); ok {
			return value
		}
	}
	return ""
}

// HomeDir is the home directory that an environment names; empty if it names none. On Windows that is USERPROFILE, also where a
// shell that comes from Unix has set HOME.
func HomeDir(env []string) string {
	if runtime.GOOS == "windows" {
		if dir := Getenv(env, "USERPROFILE"); dir != "" {
			return dir
		}
	}
	return Getenv(env, "HOME")
}

// valueOf is the value in name=value. Windows does not distinguish PATH from Path.
func valueOf(variable, name string, foldCase bool) (value string, ok bool) {
	if n := len(name); len(variable) > n && variable[n] == '=' && (variable[:n] == name || foldCase && strings.EqualFold(variable[:n], name)) {
		return variable[n+1:], true
	}
	return "", false
}
