package belay_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
)

// policyText is what of a policy the variables may change.
func policyText(p retry.Policy) string {
	return fmt.Sprint(p.MaxRetries, p.CountThrottles, p.BaseDelay, p.MaxDelay, p.Jitter, p.Timeout, p.MaxWait)
}

// FromEnv makes of the variables what belay run makes of them.
func TestAgent_FromEnv(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	names := []string{"CLAUDE_MAX_RETRIES", "CLAUDE_BASE_DELAY", "CLAUDE_MAX_DELAY", "CLAUDE_JITTER_FACTOR", "CLAUDE_LOG_DIR"}
	for _, env := range []string{
		"", "CLAUDE_MAX_RETRIES=1", "CLAUDE_MAX_RETRIES=5", "CLAUDE_MAX_RETRIES=0", "CLAUDE_MAX_RETRIES=-3", "CLAUDE_MAX_RETRIES=many", "CLAUDE_MAX_RETRIES=",
		"CLAUDE_BASE_DELAY=0.5", "CLAUDE_BASE_DELAY=0", "CLAUDE_BASE_DELAY=3s", "CLAUDE_BASE_DELAY=-1", "CLAUDE_BASE_DELAY=soon", "CLAUDE_BASE_DELAY=NaN",
		"CLAUDE_MAX_DELAY=90", "CLAUDE_MAX_DELAY=1h30m", "CLAUDE_JITTER_FACTOR=0.5", "CLAUDE_JITTER_FACTOR=7", "CLAUDE_JITTER_FACTOR=x",
		"CLAUDE_LOG_DIR=/var/log/claude", "CLAUDE_LOG_DIR=none",
		"CLAUDE_MAX_RETRIES=3 CLAUDE_BASE_DELAY=1 CLAUDE_MAX_DELAY=2 CLAUDE_JITTER_FACTOR=0 CLAUDE_LOG_DIR=here",
	} {
		t.Run(env, func(t *testing.T) {
			for _, name := range names {
				t.Setenv(name, "")
			}
			for _, kv := range strings.Fields(env) {
				name, value, _ := strings.Cut(kv, "=")
				t.Setenv(name, value)
			}
			s, _, wrong := config.Load(nil, "claude")
			for from, environ := range map[string][]string{"the caller's environment": nil, "its own": append(strings.Fields("CLAUDE_LOG_DIR=overruled HOME=/"), strings.Fields("CLAUDE_LOG_DIR= "+env)...)} {
				got := belay.Claude("")
				got.Env = environ
				err := got.FromEnv()
				if _, usage := errors.AsType[*belay.UsageError](err); (wrong != nil) != usage {
					t.Errorf("%s: %v, and belay says %v", from, err, wrong)
				}
				if wrong != nil {
					if name, _, _ := strings.Cut(env, "="); !strings.HasPrefix(err.Error(), name+": ") {
						t.Errorf("%s: %v does not name the variable", from, err)
					}
					continue
				}
				want := s.Policy("claude", true)
				if env == "" || env == "CLAUDE_MAX_RETRIES=" {
					want = retry.Policy{} // which means the preset
				}
				if policyText(got.Runner.Policy) != policyText(want) && !strings.HasPrefix(env, "CLAUDE_LOG_DIR") || got.Runner.LogDir != s.LogDir {
					t.Errorf("%s: %s in %q, want %s in %q", from, policyText(got.Runner.Policy), got.Runner.LogDir, policyText(want), s.LogDir)
				}
			}
		})
	}
}

// What the program itself says holds, and is not checked against variables that do not count then.
func TestAgent_FromEnv_TheProgramHolds(t *testing.T) {
	env := []string{"CLAUDE_MAX_RETRIES=many", "CLAUDE_BASE_DELAY=soon", "CLAUDE_MAX_DELAY=3", "CLAUDE_LOG_DIR=here"}
	c := belay.Claude("")
	c.Env, c.Runner = env, belay.Runner{LogDir: belay.NoLogDir, Policy: retry.Policy{MaxRetries: 7, BaseDelay: time.Minute, Timeout: time.Hour}}
	err := c.FromEnv()
	if p := c.Runner.Policy; err != nil || p.MaxRetries != 7 || p.CountThrottles || p.BaseDelay != time.Minute || p.MaxDelay != 3*time.Second || p.Timeout != time.Hour || c.Runner.LogDir != belay.NoLogDir {
		t.Errorf("%+v, %v", c.Runner, err)
	}
	c.Runner.Policy = retry.Policy{Timeout: time.Hour, MaxWait: time.Minute}
	c.Env = []string{"CLAUDE_BASE_DELAY=1"}
	err = c.FromEnv()
	if p := c.Runner.Policy; err != nil || p.MaxRetries != 4 || p.Timeout != time.Hour || p.MaxWait != time.Minute || p.BaseDelay != time.Second || p.MaxDelay != 2*time.Minute {
		t.Errorf("%+v, %v", p, err)
	}
	c.Runner.Policy = retry.Policy{BaseDelay: time.Minute, Jitter: retry.NoJitter}
	err = c.FromEnv()
	if p := c.Runner.Policy; err != nil || p.MaxRetries != 4 || p.BaseDelay != time.Minute || p.Jitter != retry.NoJitter {
		t.Errorf("%+v, %v", p, err)
	}
}

// An agent that the variables are wrong for is left as it was, and one that is not claude has none.
func TestAgent_FromEnv_Untouched(t *testing.T) {
	c := belay.Claude("")
	c.Env = []string{"CLAUDE_MAX_RETRIES=3", "CLAUDE_BASE_DELAY=soon", "CLAUDE_LOG_DIR=here"}
	if err := c.FromEnv(); err == nil || c.Runner.Policy.MaxRetries != 0 || c.Runner.LogDir != "" {
		t.Errorf("%v, %+v", err, c.Runner)
	}
	codex := belay.Codex("")
	codex.Env = c.Env
	if err := codex.FromEnv(); err != nil || codex.Runner.LogDir != "" {
		t.Errorf("%v, %+v", err, codex.Runner)
	}
}

// One attempt by CLAUDE_MAX_RETRIES is used up when it has failed; no retries at all leave the command's own exit code.
func TestAgent_OnlyAttempt(t *testing.T) {
	t.Parallel()
	for _, counted := range []bool{true, false} {
		claude := scripted(t, begins+fails+"exit 1\n")
		claude.Env = []string{"PATH=" + os.Getenv("PATH")}
		if counted {
			claude.Env = append(claude.Env, "CLAUDE_MAX_RETRIES=1")
			must.OK(t, claude.FromEnv())
		} else {
			claude.Runner.Policy = retry.Policy{MaxRetries: retry.None, CountThrottles: true}
		}
		res, err := claude.Run(t.Context())
		if want := map[bool]int{true: 75, false: 1}[counted]; err == nil || res.ExitCode != want || res.Attempts != 1 || strings.HasSuffix(res.Error, "; retry later") != counted {
			t.Errorf("counted %v: %d, %s", counted, res.ExitCode, res.Error)
		}
	}
}
