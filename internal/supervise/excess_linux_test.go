package supervise_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

const mb = 1 << 20

// touch has so many bytes of memory of its own.
func touch(size int) []byte {
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		panic(err)
	}
	for i := 0; i < len(b); i += os.Getpagesize() {
		b[i] = 1
	}
	return b
}

// touchShared maps all of a file.
func touchShared(f *os.File, size int) {
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	for i := 0; i < len(b); i += os.Getpagesize() {
		b[i] = 1
	}
}

// keepReading is what was read: the compiler must not leave it out.
var keepReading byte

func init() {
	// hold has so many MB, or that of a file that it inherits, and then so many KB more each tenth of a second.
	helpers["hold"] = func(args []string) {
		size, _ := strconv.Atoi(args[0])
		if more, _ := strconv.Atoi(args[1]); args[2] == "shared" {
			touchShared(os.NewFile(3, "shared"), size*mb)
		} else {
			touch(max(size*mb, 1))
			for more > 0 {
				time.Sleep(100 * time.Millisecond)
				touch(more << 10)
			}
		}
		time.Sleep(testTimeout)
	}
	// keep maps 200 MB: of a file on a disk, or memory that is swapped out at once.
	helpers["keep"] = func(args []string) {
		if f, err := os.Open(args[0]); err == nil {
			b, err := unix.Mmap(int(f.Fd()), 0, 200*mb, unix.PROT_READ, unix.MAP_SHARED)
			if err != nil {
				panic(err)
			}
			for i := 0; i < len(b); i += os.Getpagesize() {
				keepReading += b[i]
			}
		} else {
			for range 20 {
				unix.Madvise(touch(10*mb), unix.MADV_PAGEOUT)
			}
		}
		time.Sleep(2 * time.Second)
	}
	// grow is a tree of 30 processes that grows by 50 MB a second, in one of several ways.
	helpers["grow"] = func(args []string) {
		start := func(files []*os.File, args ...string) {
			cmd := exec.Command("/proc/self/exe", args...)
			cmd.Env, cmd.ExtraFiles = append(os.Environ(), helperVar+"=hold"), files
			if err := cmd.Start(); err != nil {
				panic(err)
			}
		}
		switch args[0] {
		case "Forks":
			for range 100 {
				start(nil, "5", "0", "")
				time.Sleep(100 * time.Millisecond)
			}
		case "Mmap":
			for range 29 {
				start(nil, "0", strconv.Itoa(5<<10/29), "")
			}
		case "Threads", "Shared", "SharedOnly":
			var files []*os.File
			size, shared := 0, ""
			if args[0] != "Threads" {
				fd, err := unix.MemfdCreate("shared", 0)
				if err != nil {
					panic(err)
				}
				f := os.NewFile(uintptr(fd), "shared")
				f.Truncate(100 * mb)
				files, size, shared = []*os.File{f}, 100, "shared"
			}
			for range 29 {
				start(files, strconv.Itoa(size), "0", shared)
			}
			if args[0] == "SharedOnly" {
				time.Sleep(2 * time.Second)
				os.Exit(0)
			}
			for range 5 {
				go func() {
					runtime.LockOSThread()
					for {
						time.Sleep(100 * time.Millisecond)
						touch(mb)
					}
				}()
			}
		}
		time.Sleep(testTimeout)
	}
}

// A tree that grows past its limit is ended before it has half as much again, whatever it grows by; memory that its processes share counts once.
func TestMaxMemory(t *testing.T) {
	limit := int64(300 * mb)
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		limit += 30 * 16 * mb // which the detector has of its own in each process
	}
	full := os.Getenv("BELAY_TEST_FULL") != ""
	for _, how := range []string{"Forks", "Threads", "Mmap", "Shared", "SharedOnly"} {
		t.Run(how, func(t *testing.T) {
			if t.Parallel(); !full && (how == "Threads" || how == "Mmap") {
				t.Skip("only in full; Shared grows by both")
			}
			cmd := helper("grow", how)
			spec := supervise.Spec{Path: cmd.Path, Args: cmd.Args, Env: cmd.Env, RunID: newID(), Placement: supervise.OwnSession, Ceilings: supervise.Ceilings{MaxMemory: limit}}
			var told, peak, past atomic.Int64
			spec.Using = func(bytes int64) bool { told.Store(bytes); return false }
			ended := make(chan struct{})
			sampled := make(chan struct{})
			go func() { // what Belay does not see
				defer close(sampled)
				for {
					select {
					case <-ended:
						return
					case <-time.After(200 * time.Millisecond):
					}
					var sum int64
					for _, pid := range carriers(spec.RunID) {
						data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
						_, rest, _ := bytes.Cut(data, []byte("\nPss:"))
						if f := bytes.Fields(rest); len(f) > 0 {
							kib, _ := strconv.ParseInt(string(f[0]), 10, 64)
							sum += kib << 10
						}
					}
					if peak.Store(max(sum, peak.Load())); sum > limit {
						past.CompareAndSwap(0, time.Now().UnixNano())
					}
				}
			}()
			exit := run(t, spec, nil)
			over := time.Now()
			close(ended)
			<-sampled
			if how == "SharedOnly" {
				if exit.Reason != supervise.Exited || exit.TreePeak < 100*mb || exit.TreePeak > limit || exit.Peak < 5*mb {
					t.Errorf("%+v", exit)
				}
				for _, pid := range carriers(spec.RunID) { // it has left them
					p, err := os.FindProcess(pid)
					must.OK(t, err)
					p.Kill()
				}
				return
			}
			if x := exit.Excess; exit.Reason != supervise.Exceeded || x == nil || x.Value <= limit || x.Limit != limit || len(x.Largest) != 3 || x.Largest[0].Memory < x.Largest[2].Memory {
				t.Fatalf("%+v %+v", exit, x)
			}
			noneLeft(t, spec.RunID)
			if names := exit.Excess.Names(func(name string, _ int64) string { return name }); strings.Count(names, ", ") != 2 || !supervise.MemoryLimits() {
				t.Errorf("largest: %s", names)
			}
			if told.Load() < exit.Excess.Value || exit.TreePeak < exit.Excess.Value || full && max(peak.Load(), exit.TreePeak) >= limit*3/2 { // beside other tests it is given its turn too late
				t.Errorf("told %d MB, peak %d MB, seen from outside %d MB", told.Load()/mb, exit.TreePeak/mb, peak.Load()/mb)
			}
			since := time.Duration(0)
			if past.Load() > 0 {
				since = over.Sub(time.Unix(0, past.Load()))
			}
			t.Logf("ended %v after the limit was seen from outside, at %d MB; peak %d MB, from outside %d MB", since.Round(time.Millisecond), exit.Excess.Value/mb, exit.TreePeak/mb, peak.Load()/mb)
		})
	}
}

// What was swapped out counts. A file of a disk that is mapped does not: the system takes that back by itself.
func TestMaxMemory_Counts(t *testing.T) {
	for name, want := range map[string]supervise.Reason{"MappedFile": supervise.Exited, "SwappedOut": supervise.Exceeded} {
		t.Run(name, func(t *testing.T) {
			file := ""
			if want == supervise.Exited {
				file = filepath.Join(t.TempDir(), "file")
				must.OK(t, os.WriteFile(file, nil, 0o600))
				must.OK(t, os.Truncate(file, 200*mb))
				var s unix.Statfs_t
				if must.OK(t, unix.Statfs(file, &s)); s.Type == unix.TMPFS_MAGIC {
					t.Skip("files lie in memory here")
				}
			} else if s := (unix.Sysinfo_t{}); unix.Sysinfo(&s) != nil || uint64(s.Freeswap)*uint64(s.Unit) < 300*mb {
				t.Skip("there is no room to swap to")
			}
			cmd := helper("keep", file)
			exit := run(t, supervise.Spec{Path: cmd.Path, Args: cmd.Args, Env: cmd.Env, RunID: newID(), Ceilings: supervise.Ceilings{MaxMemory: 150 * mb}}, nil)
			if exit.Reason != want || want == supervise.Exited && exit.Peak < 150*mb {
				t.Errorf("%+v %+v", exit, exit.Excess)
			}
		})
	}
}

// A file system that does not tell its size is not taken for a full one.
func TestFreeDisk_Untold(t *testing.T) {
	if x := supervise.FreeDisk([]string{"/proc"}, 1); x.Value < 1<<62 {
		t.Errorf("%+v", x)
	}
}

// A command that writes to a disk with less room than must stay free is ended; the disk is named.
func TestMinFree(t *testing.T) {
	dir := t.TempDir()
	cmd := helper("hold", "0", "0", "")
	exit := run(t, supervise.Spec{Path: cmd.Path, Args: cmd.Args, Env: cmd.Env, RunID: newID(), Placement: supervise.OwnSession, Ceilings: supervise.Ceilings{MinFree: 1 << 61, Disks: []string{dir, "/proc"}}}, nil)
	if x := exit.Excess; exit.Reason != supervise.Exceeded || x == nil || x.Disk != dir || x.Limit != 1<<61 || x.Value <= 0 || exit.TreePeak != 0 {
		t.Errorf("%+v %+v", exit, x)
	}
}

// What keeps the machine awake must be there.
func TestKeepAwake_NotThere(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if supervise.KeepAwake() == nil {
		t.Error("it works without a program for it")
	}
}
