package supervise_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/supervise"
)

// The kernel is asked too: what CheckArgs refuses it must refuse, and what CheckArgs lets pass it must take, but for
// the last page before the limit.
func TestCheckArgs(t *testing.T) {
	t.Parallel()
	many := func(n, size int) (list []string) {
		for range n {
			list = append(list, strings.Repeat("x", size))
		}
		return list
	}
	for name, tt := range map[string]struct {
		args, env []string
		refused   string
	}{
		"Nothing":          {nil, nil, ""},
		"Argument131071":   {many(1, 131071), nil, ""},
		"Argument131072":   {many(1, 131072), nil, "argument 1 has 131072 bytes; Linux takes at most 131071 in one argument"},
		"Variable131071":   {nil, []string{"A=" + strings.Repeat("x", 131069)}, ""},
		"Variable131072":   {nil, []string{"A=" + strings.Repeat("x", 131070)}, `environment variable "A=xx`},
		"TwoMegabytesLess": {many(19, 100_000), nil, ""},
		"TwoMegabytes":     {many(21, 100_000), nil, "arguments and environment have"},
		"ManyShort":        {many(300_000, 0), nil, "arguments and environment have"},
		"Environment":      {nil, many(21, 100_000), "arguments and environment have"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"true"}, tt.args...)
			err := supervise.CheckArgs(args, tt.env)
			if (err != nil) != (tt.refused != "") || err != nil && !strings.HasPrefix(err.Error(), tt.refused) {
				t.Errorf("%.200v", err)
			}
			spec := supervise.Spec{Path: "/bin/true", Args: args, Env: append([]string{}, tt.env...)}
			_, kernel := (&supervise.Supervisor{}).Run(spec, nil)
			if errors.Is(kernel, syscall.E2BIG) != (tt.refused != "") {
				t.Errorf("the kernel says %v", kernel)
			}
		})
	}
}

// What the kernel takes must not be refused, to the byte.
func TestCheckArgs_NearTheLimit(t *testing.T) {
	t.Parallel()
	list := make([]string, 0, 25)
	list = append(list, "true")
	for range 20 {
		list = append(list, strings.Repeat("x", 100_000))
	}
	takes := func(n int) bool {
		spec := supervise.Spec{Path: "/bin/true", Args: append(list, strings.Repeat("x", n)), Env: []string{}}
		_, err := (&supervise.Supervisor{}).Run(spec, nil)
		return err == nil
	}
	low, high := 0, 131071 // the kernel takes low and refuses high, if the stack is limited as usual
	if !takes(low) || takes(high) {
		t.Skip("the limit of the stack is not 8 MiB")
	}
	for high-low > 1 {
		if mid := (low + high) / 2; takes(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	if err := supervise.CheckArgs(append(list, strings.Repeat("x", low)), nil); err != nil {
		t.Errorf("the kernel takes what is refused: %v", err)
	}
	if err := supervise.CheckArgs(append(list, strings.Repeat("x", high+100)), nil); err == nil {
		t.Errorf("it lets pass what the kernel refuses")
	}
}
