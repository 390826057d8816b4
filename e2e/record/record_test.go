//go:build linux

package record_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/companion/rehearse"
	"github.com/belay-run/belay/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// usage is what results, statistics and the record of a session say alike.
type usage struct {
	In     int64    `json:"input_tokens"`
	Out    int64    `json:"output_tokens"`
	Read   int64    `json:"cache_read_input_tokens"`
	Create int64    `json:"cache_creation_input_tokens"`
	Cost   *float64 `json:"total_cost_usd"`
}

func (u *usage) add(v usage) {
	u.In, u.Out, u.Read, u.Create = u.In+v.In, u.Out+v.Out, u.Read+v.Read, u.Create+v.Create
	if v.Cost != nil {
		sum := *v.Cost
		if u.Cost != nil {
			sum += *u.Cost
		}
		u.Cost = &sum
	}
}

func (u usage) String() string {
	cost := "–"
	if u.Cost != nil {
		cost = fmt.Sprintf("%.6f", math.Round(*u.Cost*1e6)/1e6)
	}
	return fmt.Sprintf("%d in, %d out, cache %d read %d created, $%s", u.In, u.Out, u.Read, u.Create, cost)
}

// figures are those of belay stats.
type figures struct {
	Key         string `json:"key"`
	Invocations int64  `json:"invocations"`
	Succeeded   int64  `json:"succeeded"`
	Attempts    int64  `json:"attempts"`
	Requests    int64  `json:"requests"`
	WaitMS      int64  `json:"wait_ms"`
	Usage       usage  `json:"usage"`
}

// Calls of claude, codex and gh that succeed, are throttled, meet an overload, use a tool and fail for good: tokens, requests and cost
// in the statistics are what the API has charged and the CLIs have reported.
func TestStats_EqualTheRehearsalsAccount(t *testing.T) {
	claude, codex, gh := clitest.Claude(t, ""), clitest.Codex(t, ""), clitest.GH(t)
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	for _, name := range []string{"belay", "belayd"} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, name), "../../cmd/"+name).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	path := strings.Join([]string{bin, filepath.Dir(claude), filepath.Dir(codex), filepath.Dir(gh), os.Getenv("PATH")}, ":")
	own := []string{"PATH=" + path, "BELAY_STATE_DIR=" + filepath.Join(dir, "state"), "XDG_CONFIG_HOME=" + filepath.Join(dir, "config"),
		"BELAY_FOLD=on", "TZ=UTC", "LC_ALL=C.UTF-8"}

	var reported, charged usage // by the results of belay run, and by the API
	var invocations, succeeded, attempts, requests int64
	var waited float64
	for n, call := range []struct {
		script  string
		command []string
	}{
		{"200(in=1000, out=70)", []string{"claude", "-p", "hi"}},
		{"429(retry-after=1), 200(in=500, out=30, cache-read=200)", []string{"claude", "-p", "hi"}},
		{"tool(bash: echo hello), 200(in=40, out=4)", []string{"claude", "-p", "hi", "--allowedTools", "Bash"}},
		{"401(message=\"invalid x-api-key\")x*", []string{"claude", "-p", "hi"}},
		{"200(in=900, out=80)", []string{"codex", "exec", "--skip-git-repo-check", "hi"}},
		{"429(retry-after=1), 200(in=300, out=20)", []string{"codex", "exec", "--skip-git-repo-check", "hi"}},
		{"tool(shell: echo hello), 200(in=40, out=4)", []string{"codex", "exec", "--skip-git-repo-check", "hi"}},
		{"429(retry-after=1)x2, tool(bash: echo hello), 529, 200(in=40, out=4)", []string{"claude", "-p", "hi", "--allowedTools", "Bash"}},
		{"reset, 200(in=60, out=6)", []string{"claude", "-p", "hi"}},
		{"drop-mid(in=0, out=0), 200(in=60, out=6)", []string{"claude", "-p", "hi"}},
		{"drop-mid(in=0), 200(in=60, out=6)", []string{"codex", "exec", "--skip-git-repo-check", "hi"}},
		{"502, 200", []string{"gh", "api", "user"}},
		{"200, lost", []string{"gh", "issue", "create", "-R", "o/r", "-t", "t", "-b", "b"}},
		{"400(message=\"no\")x*", []string{"codex", "exec", "--skip-git-repo-check", "hi"}},
	} {
		place := filepath.Join(dir, fmt.Sprint("call", n))
		if err := os.MkdirAll(filepath.Join(place, "work"), 0o700); err != nil {
			t.Fatal(err)
		}
		api, err := rehearse.Options{Dir: filepath.Join(place, "api")}.Start(call.script)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(place, "result.json")
		cmd := exec.Command(filepath.Join(bin, "belay"), append([]string{"run", "--verify-effect", "--result-file", file, "--"}, call.command...)...)
		cmd.Dir, cmd.Env = filepath.Join(place, "work"), slices.Concat(own, api.Environ())
		out, _ := cmd.CombinedOutput() // one of them fails on purpose
		api.Close()
		var result struct {
			Success  bool    `json:"success"`
			Attempts int64   `json:"attempts"`
			Requests int64   `json:"requests"`
			Waited   float64 `json:"total_wait_time"`
			Usage    usage   `json:"usage"`
		}
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &result)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		reported.add(result.Usage)
		var api1 usage
		for _, q := range api.Requests() {
			api1.add(usage{In: int64(q.Usage.Input), Out: int64(q.Usage.Output), Read: int64(q.Usage.CacheRead), Create: int64(q.Usage.CacheCreate)})
		}
		charged.add(api1)
		made := int64(len(api.Requests()))
		if call.command[0] != "gh" { // agents ask for other things too, and do not tell
			made = int64(len(api.Main()))
		}
		requests += made
		if result.Requests != made {
			t.Errorf("%s: belay run says %d requests, the API has had %d\n%s", call.script, result.Requests, made, out)
		}
		if got := result.Usage; got.In != api1.In || got.Out != api1.Out || got.Read != api1.Read || got.Create != api1.Create {
			t.Errorf("%s: belay run says %v, the API has charged %v\n%s", call.script, got, api1, out)
		}
		invocations++
		attempts += result.Attempts
		waited += result.Waited
		if result.Success {
			succeeded++
		}
	}
	if succeeded != invocations-2 {
		t.Errorf("%d of %d succeeded", succeeded, invocations)
	}

	stats := func(by string) (groups []figures, total figures) {
		cmd := exec.Command(filepath.Join(bin, "belay"), "stats", "--json", "--by", by)
		cmd.Env = own
		out, err := cmd.Output()
		var answer struct {
			Groups []figures `json:"groups"`
			Total  figures   `json:"total"`
		}
		if err == nil {
			err = json.Unmarshal(out, &answer)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return answer.Groups, answer.Total
	}
	for _, by := range []string{"day", "profile", "model", "class"} {
		groups, total := stats(by)
		if total.Invocations != invocations || total.Succeeded != succeeded || total.Attempts != attempts || total.Requests != requests || total.Usage.String() != reported.String() {
			t.Errorf("by %s: %+v, want %d runs, %d ok, %d attempts, %d requests, %v", by, total, invocations, succeeded, attempts, requests, reported)
		}
		var sum figures
		for _, g := range groups {
			sum.Invocations += g.Invocations
			sum.Attempts += g.Attempts
			sum.Requests += g.Requests
			sum.Usage.add(g.Usage)
		}
		if sum.Invocations != total.Invocations || sum.Attempts != total.Attempts || sum.Requests != total.Requests || sum.Usage.String() != total.Usage.String() {
			t.Errorf("by %s: the groups add up to %+v, all is %+v", by, sum, total)
		}
	}
	_, total := stats("day")
	if u := total.Usage; u.In != charged.In || u.Out != charged.Out || u.Read != charged.Read || u.Create != charged.Create {
		t.Errorf("the record has %v, the API has charged %v", u, charged)
	}
	t.Logf("%d runs, %d attempts, %d requests; %v", invocations, attempts, requests, reported)
}
