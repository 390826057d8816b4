package belay_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
)

// pieces remembers how large the pieces were that were written.
type pieces struct {
	bytes.Buffer
	largest int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.largest = max(p.largest, len(b))
	return p.Buffer.Write(b)
}

// Output that does not fit into memory is read and written piece by piece.
func TestResult_LargeOutput(t *testing.T) {
	t.Parallel()
	const size = 5 << 20
	res, err := belay.Run(t.Context(), "sh", "-c", "head -c 5242880 /dev/zero | tr '\\0' x")
	must.OK(t, err)
	defer res.Output.Close()
	if got := res.Output.Size(); got != size {
		t.Fatalf("%d bytes", got)
	}
	for range 2 { // it can be read as often as needed
		if n, err := io.Copy(io.Discard, res.Output.Reader()); n != size || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
	}
	part := make([]byte, 10)
	if n, err := res.Output.ReadAt(part, size-4); n != 4 || err != io.EOF || string(part[:n]) != "xxxx" {
		t.Errorf("%d bytes, %v", n, err)
	}
	var written pieces
	if err := res.WriteJSON(&written); err != nil || written.largest > 256<<10 {
		t.Errorf("%v, in pieces of up to %d bytes", err, written.largest)
	}
	var got struct {
		Success bool
		Result  string
	}
	if err := json.Unmarshal(written.Bytes(), &got); err != nil || !got.Success || got.Result != strings.Repeat("x", size) {
		t.Errorf("%v, %d bytes", err, len(got.Result))
	}
	var text pieces
	if err := res.WriteText(&text); err != nil || text.Len() > 10_000 || !strings.Contains(text.String(), "… (truncated)\n") {
		t.Errorf("%v, %d bytes of text", err, text.Len())
	}
}

func TestResult_Text(t *testing.T) {
	t.Parallel()
	r := belay.Runner{Policy: retry.Policy{MaxRetries: 1, BaseDelay: time.Millisecond}}
	res, err := r.Run(t.Context(), sh("echo no luck >&2; exit 3"))
	if err == nil {
		t.Fatal("it has worked")
	}
	res.Duration, res.Waited = 1234*time.Millisecond, 2*time.Second
	var text bytes.Buffer
	const want = "Status: FAILED\nEarlier: sh exited 3: no luck\nError: sh exited 3: no luck. Gave up after 2 attempts\nDuration: 1,234ms\nAttempts: 2, waited 2.0s\n"
	if err := res.WriteText(&text); err != nil || text.String() != want {
		t.Errorf("%v\n%s", err, text.Bytes())
	}
	if err := res.WriteJSON(brokenWriter{}); err == nil {
		t.Error("nothing has gone wrong")
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// No output is empty output.
func TestOutput_None(t *testing.T) {
	t.Parallel()
	for _, o := range []*belay.Output{nil, {}} {
		data, err := io.ReadAll(o.Reader())
		if o.Size() != 0 || o.String() != "" || len(data) > 0 || err != nil || o.Close() != nil {
			t.Errorf("%q, %v", data, err)
		}
		if n, err := o.ReadAt(make([]byte, 1), 0); n != 0 || err != io.EOF {
			t.Errorf("%d, %v", n, err)
		}
	}
	var b bytes.Buffer
	command := sh("echo to the writer")
	command.Stdout = &b
	res, err := new(belay.Runner).Run(t.Context(), command)
	if err != nil || res.Output != nil || b.String() != "to the writer\n" {
		t.Errorf("%v, %v, %q", res.Output, err, b.Bytes())
	}
}
