//go:build linux

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/faulttest"
)

// Random batches with hostile files: ids and outputs of any bytes, files of the user wherever Belay writes, links, a disk that fills, kills, and
// programs that change the results meanwhile. No file that Belay did not make is changed, and every task has exactly one result that is its own, or
// the batch says what is missing and does not end with 0. BELAY_TEST_BATCH_STORIES is how many are played, BELAY_TEST_SEED the first.
func TestBatch_Stories(t *testing.T) {
	t.Parallel()
	stories, seed := faulttest.Count(t, "BELAY_TEST_BATCH_STORIES", 24), faulttest.Count(t, "BELAY_TEST_SEED", 1)
	programs(t)
	var next, starts, refused, kills, changes, full atomic.Int64
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for !t.Failed() {
				i := int(next.Add(1)) - 1
				if i >= stories {
					return
				}
				s := newStory(t, uint64(seed+i))
				s.play()
				starts.Add(int64(s.starts))
				refused.Add(int64(s.refusals))
				kills.Add(int64(s.kills))
				changes.Add(int64(s.changes))
				if s.full {
					full.Add(1)
				}
			}
		})
	}
	group.Wait()
	if canMount.Load() == mountRefused {
		t.Log("SKIPPED: disks that fill, because nothing can be mounted here")
	}
	t.Logf("tried %d batches from seed %d with %d starts: %d refused, %d killed, %d with results changed meanwhile, %d on a disk that fills; no file of the user was changed",
		stories, seed, starts.Load(), refused.Load(), kills.Load(), changes.Load(), full.Load())
}

// storyTask is a task of a story.
type storyTask struct {
	id     string // empty where the tasks have none
	key    string // the prompt, which names what the command prints
	output []byte
	fails  bool
}

// story is one batch, from its files to the last start.
type story struct {
	*run
	seed uint64
	rand *rand.Rand
	dir  string

	format           string
	tasks            []storyTask
	file             string // of the tasks
	results          string
	args             []string
	outputDir        string
	stdin            []byte
	mine             map[string]string // the files of the user, by path, with what they are
	disk             string            // where a small disk is mounted; empty if none is
	full             bool
	starts, refusals int
	kills, changes   int
	said             string
}

func newStory(t *testing.T, seed uint64) *story {
	r := newRun(t, int(seed))
	s := &story{run: r, seed: seed, rand: rand.New(rand.NewPCG(seed, 35)), dir: filepath.Join(r.dir, "work"), mine: map[string]string{}}
	s.must(os.MkdirAll(filepath.Join(s.dir, "said"), 0o700))
	return s
}

func (s *story) must(err error) {
	s.t.Helper()
	if err != nil {
		s.fail("%v", err)
	}
}

// fail says which story it was. It ends the goroutine of the story alone, so that the disk is taken away.
func (s *story) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Errorf("BELAY_TEST_SEED=%d: belay %q: %s\n%s", s.seed, s.args, fmt.Sprintf(format, args...), s.said)
}

func (s *story) chance(percent int) bool { return s.rand.IntN(100) < percent }

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// text is a text of some bytes out of an alphabet that is made to hurt.
func (s *story) text(most int, valid bool) string {
	pieces := []string{"a", "B", "0", " ", `"`, `\`, `\x`, `\xFC`, `\xff`, "'", "%", "%2F", "{}", "-", "$(x)", "ü", "漢", "\u2028", ",", ";", "é"}
	if !valid {
		pieces = append(pieces, "\xfc", "\xff", "\xc3", "\xe6\xbc", "\xed\xa0\x80")
	}
	var b strings.Builder
	for range 1 + s.rand.IntN(most) {
		b.WriteString(pick(s.rand, pieces...))
	}
	return b.String()
}

// prepare writes the tasks and what each of them prints.
func (s *story) prepare() {
	s.format = pick(s.rand, "lines", "jsonl", "csv", "files", "stdin")
	s.results = pick(s.rand, "r", "r.jsonl", "sub/r")
	s.must(os.MkdirAll(filepath.Join(s.dir, "sub"), 0o700))
	used := map[string]bool{}
	for i := range 1 + s.rand.IntN(6) {
		task := storyTask{key: strconv.Itoa(i), fails: s.chance(15), output: []byte(s.text(40, s.chance(50)))}
		if s.chance(5) {
			task.output = bytes.Repeat(task.output, 300_000/len(task.output))
		}
		switch s.format {
		case "jsonl":
			task.id = s.text(6, true)
		case "csv":
			task.id = s.text(6, false)
		case "files":
			task.id = strings.TrimLeft(s.text(6, false), ".")
		}
		if s.format == "jsonl" || s.format == "csv" || s.format == "files" {
			for used[strings.TrimSpace(task.id)] || task.id == "" {
				task.id += strconv.Itoa(i)
			}
			used[strings.TrimSpace(task.id)] = true
		}
		s.tasks = append(s.tasks, task)
		s.must(os.WriteFile(filepath.Join(s.dir, "said", task.key), task.output, 0o600))
	}
	s.writeTasks()
	s.must(os.WriteFile(filepath.Join(s.dir, "act.sh"), []byte(`echo "$1" >>ran
if [ -e "do.$1" ]; then mv "do.$1" doing; . ./doing; fi
cat "said/$1"
[ ! -e "fails.$1" ]
`), 0o600))
	for _, task := range s.tasks {
		if task.fails {
			s.must(os.WriteFile(filepath.Join(s.dir, "fails."+task.key), nil, 0o600))
		}
	}
	s.args = []string{"batch", "-j", strconv.Itoa(1 + s.rand.IntN(3)), s.file}
	if s.chance(90) || s.format == "stdin" {
		s.args = append(s.args, "-o", s.results)
	} else {
		s.results = strings.TrimSuffix(s.file, filepath.Ext(s.file)) + ".results.jsonl"
	}
	if s.chance(40) {
		s.outputDir = pick(s.rand, "out", "sub", ".")
		s.args = append(s.args, "--output-dir", s.outputDir)
	}
	s.args = append(s.args, "--", "sh", "act.sh", "{}")
}

func (s *story) writeTasks() {
	var b bytes.Buffer
	switch s.format {
	case "lines", "stdin":
		for _, task := range s.tasks {
			b.WriteString(task.key + pick(s.rand, "\n", "\r\n"))
		}
	case "jsonl":
		for _, task := range s.tasks {
			line, _ := json.Marshal(map[string]any{"id": task.id, "prompt": task.key, "Id": "x", "ENV": 7})
			b.Write(append(line, '\n'))
		}
	case "csv":
		w := csv.NewWriter(&b)
		w.Write([]string{"id", "prompt"})
		for _, task := range s.tasks {
			w.Write([]string{task.id, task.key})
		}
		w.Flush()
	case "files":
		s.file = "tasks"
		s.must(os.MkdirAll(filepath.Join(s.dir, "tasks"), 0o700))
		for _, task := range s.tasks {
			s.must(os.WriteFile(filepath.Join(s.dir, "tasks", task.id), []byte(task.key), 0o600))
		}
		return
	}
	if s.format == "stdin" {
		s.file, s.stdin = "-", b.Bytes()
		return
	}
	s.file = map[string]string{"lines": "tasks.txt", "jsonl": "tasks.jsonl", "csv": "tasks.csv"}[s.format]
	s.must(os.WriteFile(filepath.Join(s.dir, s.file), b.Bytes(), 0o600))
}

// plant puts files of the user where Belay might write.
func (s *story) plant() {
	names := []string{s.results + ".state", s.results + ".state.new", s.results + ".tasks", s.results + ".stdin", s.results + ".tasks.7", s.results + ".new", s.results}
	if dir := s.outputDir; dir != "" {
		names = append(names, filepath.Join(dir, ".belay-7"))
		for _, task := range s.tasks {
			if name := strings.NewReplacer("/", "", "\x00", "").Replace(task.id); name != "" {
				names = append(names, filepath.Join(dir, name), filepath.Join(dir, strings.ReplaceAll(name, " ", "%20")))
			}
		}
		s.must(os.MkdirAll(filepath.Join(s.dir, dir), 0o700))
	}
	contents := []string{"mine\n", "mine", "\nmine", `{"task":"a"}` + "\n" + `{"task":"b"}`, `{"start":"2026"}` + "\n", `{"task":"a","prompt":"x"}`, "\x00\x00\x00", "\x00\n\x00", "[]", `{"holder":"me"}`, `{"belay":"tasks"}`}
	for range 2 {
		if !s.chance(35) {
			continue
		}
		path := filepath.Join(s.dir, pick(s.rand, names...))
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		if s.chance(20) {
			target := filepath.Join(s.dir, "victim")
			s.must(os.WriteFile(target, []byte(pick(s.rand, contents...)), 0o600))
			os.Symlink(target, path)
			continue
		}
		if err := os.WriteFile(path, []byte(pick(s.rand, contents...)), 0o600); err != nil && !errors.Is(err, unix.ENAMETOOLONG) && !errors.Is(err, unix.ENOSPC) {
			s.fail("%v", err)
		}
	}
	if s.chance(10) { // a repository that brings a link along
		git := exec.Command("git", "init", "-q", s.dir)
		link := pick(s.rand, s.results, "out")
		if git.Run() == nil && os.Symlink(filepath.Join(s.dir, "sub", "victim2"), filepath.Join(s.dir, link)) == nil {
			s.must(os.WriteFile(filepath.Join(s.dir, "sub", "victim2"), nil, 0o600))
			exec.Command("git", "-C", s.dir, "add", "--", link).Run()
			exec.Command("git", "-C", s.dir, "config", "gc.auto", "0").Run()
		}
	}
}

const (
	mountUnknown = iota
	mountAllowed
	mountRefused
)

var canMount atomic.Int32

// shrink puts the results on a disk with little room.
func (s *story) shrink() {
	dir := filepath.Join(s.dir, "sub")
	if !strings.HasPrefix(s.results, "sub/") || !s.chance(40) || canMount.Load() == mountRefused {
		return
	}
	if unix.Mount("none", dir, "tmpfs", 0, "size=64k,nr_inodes=64") != nil {
		canMount.Store(mountRefused)
		return
	}
	canMount.Store(mountAllowed)
	s.disk, s.full = dir, true
	filler := filepath.Join(dir, "filler")
	for size := 64 << 10; size > 0; size -= 4 << 10 {
		if os.WriteFile(filler, make([]byte, size), 0o600) == nil {
			s.must(os.Truncate(filler, int64(size-s.rand.IntN(3)*4<<10)))
			return
		}
	}
}

// disturb lets tasks kill the batch, or change its results, as they run.
func (s *story) disturb() {
	at := filepath.Join(s.dir, s.results)
	acts := []string{
		"kill -9 $PPID; sleep 5",
		`cp R c.R && mv c.R R`,
		`grep -v '"index":0' R >c.R; mv c.R R`,
		`rm -f R`,
		`: >R`,
		`printf 'a line of another program' >>R`,
		`printf '{"task":"a"}\n' >c.R; mv c.R R`,
		`printf 'notes\n' >R`,
		`rm -f R.state`,
		`head -c 100 R >c.R; cat c.R >R; rm c.R`,
	}
	for _, task := range s.tasks {
		if !s.chance(25) {
			continue
		}
		act := acts[0]
		if s.chance(60) {
			act = pick(s.rand, acts[1:]...)
			s.changes++
		} else {
			s.kills++
		}
		quoted := "'" + strings.ReplaceAll(at, "'", `'\''`) + "'"
		act = strings.NewReplacer("c.R", "'"+filepath.Join(s.disk, "c.copy")+"'", "R.state", quoted+".state", "R", quoted).Replace(strings.ReplaceAll(act, "PPID", "{parent}"))
		act = strings.ReplaceAll(act, "{parent}", "PPID")
		s.must(os.WriteFile(filepath.Join(s.dir, "do."+task.key), []byte(act+"\n"), 0o600))
	}
}

// snapshot is what is there, by path: content, mode and where links lead.
func (s *story) snapshot() map[string]string {
	all := map[string]string{}
	filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if e.IsDir() {
			if e.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		text, _ := os.Readlink(path)
		if info.Mode().IsRegular() {
			data, _ := os.ReadFile(path)
			text = string(data)
		}
		all[path] = info.Mode().String() + " " + text
		return nil
	})
	return all
}

// start starts the batch once, and checks that no file of the user is changed by it.
func (s *story) start(more ...string) (code int) {
	s.starts++
	args := slices.Concat([]string{s.args[0]}, more, s.args[1:])
	cmd := s.command("belay-plain", args...)
	cmd.Dir = s.dir
	var said bytes.Buffer
	cmd.Stderr, cmd.Stdin = &said, bytes.NewReader(s.stdin)
	ranBefore := s.count("ran")
	s.must(cmd.Start())
	if s.kills > 0 && s.chance(20) {
		timer := time.AfterFunc(time.Duration(s.rand.Int64N(int64(40*time.Millisecond))), func() { cmd.Process.Kill() })
		defer timer.Stop()
	}
	code = shellCode(cmd.Wait())
	s.said = said.String()
	if code == 2 {
		if s.refusals++; s.count("ran") != ranBefore {
			s.fail("refused after tasks were started")
		}
	}
	if code != 0 && code != 137 && s.said == "" {
		s.fail("exit code %d, and nothing is said", code)
	}
	now := s.snapshot()
	for path, was := range s.mine {
		if now[path] != was {
			s.fail("exit code %d: %q is now %.200q, and was %.200q", code, path, now[path], was)
		}
	}
	return code
}

func (s *story) count(name string) int {
	data, _ := os.ReadFile(filepath.Join(s.dir, name))
	return bytes.Count(data, []byte("\n"))
}

func (s *story) play() {
	defer func() {
		if s.disk != "" {
			unix.Unmount(s.disk, unix.MNT_DETACH)
		}
	}()
	s.prepare()
	s.shrink()
	s.plant()
	s.mine = s.snapshot()
	if was := s.mine[filepath.Join(s.dir, s.results)]; strings.HasSuffix(was, "- ") || strings.HasPrefix(was, "L") {
		delete(s.mine, filepath.Join(s.dir, s.results)) // empty, or a link of the user's: it is to be used
		delete(s.mine, filepath.Join(s.dir, "sub", "victim2"))
	}
	disturbed := s.chance(50)
	if disturbed {
		s.disturb()
	}
	foreign := false // another program has put something else in the place of the results
	begun := false   // a start has come so far that there are results: what a killed one would have refused, the next one refuses
	for round := 0; ; round++ {
		code := s.start()
		if s.t.Failed() {
			return
		}
		if data, err := os.ReadFile(filepath.Join(s.dir, s.results)); err == nil && len(data) > 0 && (!bytes.HasPrefix(data, []byte(`{"task":"`)) || bytes.HasPrefix(data, []byte(`{"task":"a"}`))) {
			foreign = true
		}
		was := begun
		if info, err := os.Lstat(filepath.Join(s.dir, s.results)); err == nil {
			begun = begun || info.Mode().IsRegular() && info.Size() > 0 && s.mine[filepath.Join(s.dir, s.results)] == ""
		}
		switch {
		case code == 0 || code == 1:
			s.check(code)
			if s.again(); !disturbed && !s.t.Failed() {
				s.onlyOnce()
			}
			return
		case code == 2:
			if len(s.mine) == 0 && !foreign {
				s.fail("refused for no reason")
			}
			if !was || foreign || s.full {
				return
			}
			s.fail("refused in round %d", round)
			return
		case code == 125:
			if s.full {
				filler := filepath.Join(s.disk, "filler")
				os.Remove(filler)
				delete(s.mine, filler)
				s.must(unix.Mount("none", s.disk, "tmpfs", unix.MS_REMOUNT, "size=8m,nr_inodes=1k"))
			}
			if foreign {
				return
			}
		case code != 137:
			s.fail("exit code %d", code)
			return
		}
		if round > 12 {
			s.fail("it comes to no end")
			return
		}
	}
}

// again starts the same command once more: nothing is left to do, and nothing changes.
func (s *story) again() {
	before, ran := s.snapshot(), s.count("ran")
	code := s.start()
	for _, name := range []string{s.results} {
		path := filepath.Join(s.dir, name)
		if now := s.snapshot(); now[path] != before[path] && !s.full {
			s.fail("a further start has changed %s", name)
		}
	}
	if s.count("ran") != ran {
		s.fail("exit code %d: finished tasks ran again", code)
	}
}

// onlyOnce checks that each task has run once.
func (s *story) onlyOnce() {
	data, _ := os.ReadFile(filepath.Join(s.dir, "ran"))
	keys := strings.Fields(string(data))
	slices.Sort(keys)
	if len(slices.Compact(slices.Clone(keys))) != len(keys) && !s.full && s.kills == 0 {
		s.fail("tasks ran more than once: %q", keys)
	}
}

// check compares the results with the tasks.
func (s *story) check(code int) {
	cmd := s.command("belay-plain", "batch", "results", s.results)
	cmd.Dir = s.dir
	out, err := cmd.Output()
	if err != nil {
		s.fail("results: %v", err)
		return
	}
	type line struct {
		Task, State string
		Escaped     bool
		Index       int
		Result      *string
		OutputFile  string `json:"output_file"`
	}
	seen := map[int]line{}
	ids := map[string]bool{}
	failed := 0
	for text := range bytes.Lines(out) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			s.fail("%v in %.200q", err, text)
			return
		}
		if _, twice := seen[l.Index]; twice || ids[l.Task] || l.Index < 0 || l.Index >= len(s.tasks) {
			s.fail("a result of no task, or a second one: %.300q", text)
			return
		}
		seen[l.Index], ids[l.Task] = l, true
	}
	order := slices.Clone(s.tasks)
	if s.format == "files" {
		slices.SortFunc(order, func(a, b storyTask) int { return strings.Compare(a.id, b.id) })
	}
	for i, task := range order {
		l, ok := seen[i]
		switch want := string([]rune(string(task.output))); {
		case !ok:
			s.fail("exit code %d: no result of task %q", code, task.id)
		case task.fails != (l.State == "failed") || !task.fails && l.State != "done":
			s.fail("task %q: %+v", task.id, l)
		case task.id != "" && l.Task != escapedForm(task.id):
			s.fail("task %q is called %q", task.id, l.Task)
		case l.OutputFile != "":
			data, _ := os.ReadFile(filepath.Join(s.dir, l.OutputFile))
			if !bytes.Equal(data, task.output) {
				s.fail("task %q: the output in %s is %.100q, want %.100q", task.id, l.OutputFile, data, task.output)
			}
		case l.Result == nil || *l.Result != want:
			s.fail("task %q: %+v, want %.100q", task.id, l, want)
		}
		if task.fails {
			failed++
		}
	}
	if (code == 1) != (failed > 0) {
		s.fail("exit code %d, and %d have failed", code, failed)
	}
	for path, is := range s.snapshot() {
		name := filepath.Base(path)
		_, mine := s.mine[path]
		isOurs := strings.HasPrefix(name, ".belay-") || strings.HasPrefix(path, filepath.Join(s.dir, s.results)+".")
		unmarked := s.kills > 0 && strings.HasSuffix(is, "- ") // it was killed in the moment before the file had its mark
		_, err := strconv.ParseUint(strings.TrimPrefix(path, filepath.Join(s.dir, s.results)+"."), 10, 64)
		rescued := err == nil && s.changes > 0 // results whose place another file had taken
		if isOurs && !mine && !unmarked && !rescued && !(s.format == "stdin" && failed > 0) {
			s.fail("left behind: %s", path)
		}
	}
}

// escapedForm is how the results write an id, by the words of docs/batch.md.
func escapedForm(id string) string {
	isEscape := func(i int) bool {
		const digits = "0123456789ABCDEF"
		return len(id) >= i+4 && id[i:i+2] == `\x` && strings.IndexByte(digits, id[i+2]) >= 0 && strings.IndexByte(digits, id[i+3]) >= 0
	}
	var b strings.Builder
	for i, c := range id {
		switch {
		case c == '\uFFFD' && !strings.HasPrefix(id[i:], "\uFFFD"), isEscape(i):
			fmt.Fprintf(&b, `\x%02X`, id[i])
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
