package look_test

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/look"
	"github.com/belay-run/belay/internal/look/viewer"
	"github.com/belay-run/belay/internal/test/must"
)

const id = "01a1e6dc-539a-7012-8ace-bce44a42a247"

// short is a directory whose path leaves room for the name of a socket.
func short(t *testing.T) string {
	dir, err := os.MkdirTemp("", "look")
	must.OK(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "looks")
}

func TestLines(t *testing.T) {
	sockets := look.Sockets{Dir: short(t)}
	known := map[string]bool{}
	if found := sockets.Dial(id, known); len(found) > 0 {
		t.Errorf("%d look where there is not even a directory", len(found))
	}
	l, err := viewer.Listen(sockets, id)
	must.OK(t, err)
	defer l.Close()
	if found := sockets.Dial("01a1e6dc-539a-7012-8ace-bce44a42a248", known); len(found) > 0 {
		t.Error("a run was found that looks at another")
	}
	found := sockets.Dial(id, known)
	if len(found) != 1 {
		t.Fatalf("%d look", len(found))
	}
	if again := sockets.Dial(id, known); len(again) > 0 {
		t.Error("one who is known was dialled again")
	}
	gone := make(chan struct{})
	sender := look.NewSender(found[0], func() { close(gone) })
	for _, line := range []look.Line{look.NewLine(1, []byte(`{"type":"x"}`)), look.NewLine(2, []byte("not \xff JSON")), look.NewLine(2, bytes.Repeat([]byte("x"), 70<<10)), {Missed: 3}} {
		must.OK(t, sender.Send(line))
	}
	var got []look.Line
	for line, err := range l.Lines(t.Context()) {
		must.OK(t, err)
		if got = append(got, line); len(got) == 4 {
			break
		}
	}
	if string(got[0].Event) != `{"type":"x"}` || got[0].Attempt != 1 || got[1].Text != "not \uFFFD JSON" || got[2].Bytes != 70<<10 || got[3].Missed != 3 {
		t.Errorf("%+v", got)
	}
	<-gone // the sender is told that nobody looks any more
	if err := sender.Close(); err != nil {
		t.Error(err)
	}
}

// A socket that was left by a killed process is removed, and no other file is touched.
func TestDial_Leftovers(t *testing.T) {
	sockets := look.Sockets{Dir: short(t)}
	l, err := viewer.Listen(sockets, id)
	must.OK(t, err)
	l.Close()
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(sockets.Dir, id[24:]+".1-1"), Net: "unix"})
	must.OK(t, err)
	left.SetUnlinkOnClose(false)
	left.Close()
	file := filepath.Join(sockets.Dir, id[24:]+".txt")
	must.OK(t, os.WriteFile(file, nil, 0o600))
	known := map[string]bool{}
	if found := sockets.Dial(id, known); len(found) > 0 {
		t.Error("one looks who does not listen")
	}
	socket := filepath.Join(sockets.Dir, id[24:]+".1-1")
	if _, err := os.Lstat(socket); err != nil || known[filepath.Base(socket)] {
		t.Errorf("a socket that is about to have a listener is given up: %v", err)
	}
	if old := time.Now().Add(-time.Minute); os.Chtimes(socket, old, old) != nil {
		t.Fatal("its time cannot be set")
	}
	sockets.Dial(id, known)
	if names, _ := os.ReadDir(sockets.Dir); len(names) != 1 || names[0].Name() != filepath.Base(file) {
		t.Errorf("%v", names)
	}
}

// A listener that takes no connection holds up no run, and is not taken for one that is gone.
func TestDial_Busy(t *testing.T) {
	sockets := look.Sockets{Dir: short(t)}
	l, err := viewer.Listen(sockets, id)
	must.OK(t, err)
	defer l.Close()
	var conns []look.Conn
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	for range 10_000 { // more than any system lets wait
		found := sockets.Dial(id, map[string]bool{})
		if conns = append(conns, found...); len(found) == 0 {
			break
		}
	}
	known := map[string]bool{}
	if found := sockets.Dial(id, known); len(found) > 0 || len(known) > 0 {
		t.Errorf("%d connections, known: %v", len(found), known)
	}
	if names, _ := os.ReadDir(sockets.Dir); len(names) != 1 {
		t.Errorf("%v", names)
	}
}
