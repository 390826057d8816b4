package clitest

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// notReady is the exit code of the inner program when it could not get the namespace ready.
const notReady = 97

// runInside starts this program in a namespace and waits for it.
func runInside() (int, error) {
	path, err := os.Executable()
	if err != nil {
		return 0, err
	}
	// The inner one dies with us. The kernel ties that to the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var failed error
	for _, attr := range namespaces() {
		attr.Pdeathsig = syscall.SIGKILL
		inner, err := os.StartProcess(path, os.Args, &os.ProcAttr{
			Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
			Env:   append(os.Environ(), insideVar+"=setup"),
			Sys:   attr,
		})
		if err != nil {
			failed = err
			continue
		}
		signals := make(chan os.Signal, 8)
		signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
		go func() {
			for s := range signals {
				inner.Signal(s)
			}
		}()
		state, err := inner.Wait()
		signal.Stop(signals)
		close(signals)
		switch {
		case err != nil:
			return 0, err
		case state.ExitCode() == notReady:
			failed = errors.New("loopback could not be switched on in it")
			continue
		case state.ExitCode() < 0:
			return 2, nil // killed; go test says how
		}
		return state.ExitCode(), nil
	}
	return 0, failed
}

// namespaces are the ways to get one: directly, as root; else in a user namespace in which the user id stays the same,
// since claude refuses to skip permissions for root.
func namespaces() []*syscall.SysProcAttr {
	uid, gid := os.Geteuid(), os.Getegid()
	user := &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWNET | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_NET_ADMIN},
	}
	if uid != 0 {
		return []*syscall.SysProcAttr{user}
	}
	return []*syscall.SysProcAttr{{Cloneflags: syscall.CLONE_NEWNET}, user}
}

// In the namespace, before anything else: switch loopback on, give the capability for that back, and begin anew as the
// tests. Package initialisation is the only moment with one thread, and capabilities are a thread's.
func init() {
	if os.Getenv(insideVar) != "setup" {
		return
	}
	runtime.LockOSThread()
	err := loopbackUp()
	if err == nil {
		err = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	}
	if err == nil {
		env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, insideVar+"=") })
		err = syscall.Exec("/proc/self/exe", os.Args, append(env, insideVar+"=tests"))
	}
	fmt.Fprintf(os.Stderr, "clitest: %v\n", err)
	os.Exit(notReady)
}

func loopbackUp() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, req)
}
