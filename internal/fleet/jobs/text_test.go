//go:build unix

package jobs

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/test/must"
)

// printed is what belay run prints, with a text in it.
func printed(t *testing.T, text string) []byte {
	t.Helper()
	quoted, err := json.Marshal(text)
	must.OK(t, err)
	return []byte(`{"schema_version":1,"id":"r","success":true,"result":` + string(quoted) + `,"errors":["a \"result\":\"b\""],"usage":{"total_cost_usd":0.5},"tags":{"result":"x"}}` + "\n")
}

func newResult(t *testing.T, key *Key, dir folder) *resultWriter {
	return &resultWriter{create: func() (*os.File, error) { return os.Create(dir.path(textPrefix + "m")) },
		seal: func(part []byte, n int) ([]byte, error) { return key.seal(part, "b", "a", "h", "m", strconv.Itoa(n)) }}
}

// The text of a result is found however it is cut into pieces, and nothing of the result is changed.
func TestResultWriter_AnyPieces(t *testing.T) {
	text := `quotes " and \ and \" and é and "result":"no"` + "\n"
	whole := printed(t, text)
	for size := 1; size < len(whole)+2; size++ {
		r := newResult(t, nil, folder{t.TempDir()})
		for rest := whole; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			r.Write(rest[:min(size, len(rest))])
		}
		var found string
		if err := json.Unmarshal(r.text, &found); err != nil || found != text {
			t.Fatalf("in pieces of %d: %v, %s", size, err, r.text)
		}
		if got := bytes.Join([][]byte{r.before, r.text, r.after}, nil); !bytes.Equal(got, whole) || !json.Valid(r.head()) {
			t.Fatalf("in pieces of %d: %s", size, got)
		}
	}
	// One that was cut off is not a result.
	r := newResult(t, nil, folder{t.TempDir()})
	r.Write(whole[:len(whole)/2])
	if json.Valid(r.head()) {
		t.Errorf("%s", r.head())
	}
}

// A large text goes by way of the disk and of rows, in parts, to a submitter that takes them. Without a job that wants it, nothing is sent.
func TestText_InParts(t *testing.T) {
	t.Parallel()
	d := newTestBatch(t)
	key, err := newKey(bytes.Repeat([]byte{7}, keySize), nil)
	must.OK(t, err)
	d.client.Key = key
	d.submit(false, "a")
	var id int64
	must.OK(t, d.client.Store.Pool.QueryRow(t.Context(), "update belay.job set state = 'running', machine = 'bee', river = 1 returning id").Scan(&id))
	text := strings.Repeat("0123456789abcdef", 2<<16) + "end" // 2 MiB
	dir := folder{t.TempDir()}
	r := newResult(t, key, dir)
	r.Write(printed(t, text))
	if err := r.close(); err != nil || r.parts != 3 {
		t.Fatal(r.parts, err)
	}
	sealed, err := json.Marshal(&fleetpipe.Outcome{Machine: "bee", Text: &fleetpipe.Text{Before: r.before, After: r.after, Mark: "m", Parts: r.parts}})
	if err == nil {
		sealed, err = key.seal(sealed, "b", "a", "h")
	}
	must.OK(t, err)
	bee := newBatcher(d.client.Store, "bee", func(error) {})
	made := func(job int64) bool {
		w := request[report, bool]{report{fence: fence{job, 1}, result: sealed, text: dir.text()}, make(chan bool, 1)}
		list := []request[report, bool]{w}
		for range 10 {
			must.OK(t, bee.make(t.Context(), new([]request[claimRequest, claim]), &list))
		}
		return <-w.answer
	}
	if made(id + 1) {
		t.Error("the result of a job that is gone is accepted")
	}
	if !made(id) {
		t.Fatal("refused")
	}
	passed := func() (data []byte, result *fleetpipe.Result) {
		for range 10 {
			d.results(t.Context())
		}
		d.flush.Flush()
		for in := json.NewDecoder(&d.told); ; {
			var said fleetpipe.Report
			if err := in.Decode(&said); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if said.Part != nil && said.Part.ID == id {
				data = append(data, said.Part.Data...)
			}
			if said.Result != nil {
				result = said.Result
			}
		}
		return data, result
	}
	data, result := passed()
	var got string
	if err := json.Unmarshal(data, &got); err != nil || got != text || result.Text == nil || result.Machine != "bee" || !json.Valid(result.Head()) {
		t.Errorf("%v: %d bytes, %+v", err, len(data), result)
	}
	// A part that is missing, or was exchanged for another, is not taken for the text.
	for _, change := range []string{"update belay.result_part set n = 9 where n = 1", "update belay.result_part set data = (select data from belay.result_part where n = 2) where n = 0"} {
		next := d.restart()
		next.client.Key = key
		d.sql(change)
		d.follower, d.told = next.follower, bytes.Buffer{}
		d.flush.Reset(&d.told)
		d.out = json.NewEncoder(d.flush)
		if _, result := passed(); result == nil || result.Text != nil || !strings.Contains(result.Error, "cannot read the result") {
			t.Errorf("%s: %+v", change, result)
		}
	}
	d.sql("delete from belay.job")
	var left int
	if err := d.client.Store.Pool.QueryRow(t.Context(), "select count(*) from belay.result_part").Scan(&left); err != nil || left > 0 {
		t.Errorf("%d parts are left: %v", left, err)
	}
}

// A submitter of an older version gets a large result as it always did. What it cannot take is said, with what it has cost.
func TestText_OlderSubmitter(t *testing.T) {
	whole := printed(t, strings.Repeat("x", textPart*3/2))
	for _, most := range []int{rowMost, textPart} {
		dir := folder{t.TempDir()}
		r := newResult(t, nil, dir)
		r.Write(whole)
		must.OK(t, r.close())
		o := &fleetpipe.Outcome{Text: &fleetpipe.Text{Before: r.before, After: r.after, Mark: "m", Parts: r.parts}}
		err := new(Worker).join(&attempt{claimed: claimed{batch: "b", task: "a", hash: "h"}}, dir, o, most)
		switch {
		case most == rowMost && (err != nil || !bytes.Equal(o.Result, whole) || o.Text != nil):
			t.Errorf("%v: %d bytes", err, len(o.Result))
		case most == textPart && (err == nil || !strings.Contains(err.Error(), "takes at most") || o.Head() != nil || o.Paid != 0.5):
			t.Errorf("%v, paid %v", err, o.Paid)
		}
		if dir.text() != nil {
			t.Error("the text is left on disk")
		}
	}
}

// A disk that is full while a large text comes is said as what it is, and nothing else of the result is lost.
func TestResultWriter_DiskFull(t *testing.T) {
	full := errors.New("no space left on device")
	r := &resultWriter{create: func() (*os.File, error) { return nil, full }}
	r.Write(printed(t, strings.Repeat("x", 3*textPart)))
	if err := r.close(); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	if cost := summaryOf(&fleetpipe.Outcome{Result: r.head()}).Usage.Cost; cost != 0.5 {
		t.Errorf("cost %v", cost)
	}
}

// What PostgreSQL refuses for good is said once, and not that it is away.
func TestWorker_SaysRefusals(t *testing.T) {
	var said []string
	w := &Worker{Store: &store.Store{Address: &store.Address{}}, Say: func(text string) { said = append(said, text) }}
	tell := w.refusal()
	for _, err := range []error{nil, &pgconn.PgError{Code: "57P03"}, io.ErrUnexpectedEOF, &pgconn.PgError{Code: "42501", Message: "permission denied for table result_part"},
		&pgconn.PgError{Code: "42501", Message: "permission denied for table result_part"}, nil} {
		tell(err)
	}
	if len(said) != 1 || !strings.Contains(said[0], "permission denied for table result_part") {
		t.Errorf("%q", said)
	}
}
