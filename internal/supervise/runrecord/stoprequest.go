package runrecord

import (
	"encoding/json"
	"os"
	"runtime"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/supervise/proctable"
)

// StopRequest says who asks a run to stop. A signal does not say who has sent it, so a request is a small file beside the record of the
// run, which is there before the signal is sent.
type StopRequest struct {
	By  string `json:"by,omitempty"`  // the command that asks: "belay cancel"
	Run string `json:"run,omitempty"` // the run that takes its place, if that is why
	PID int    `json:"pid"`           // the process that asks
}

// A request has one name while its signal is about to be sent, and another one once it has been sent. A process that is killed in between leaves
// the first, which says nothing of a signal that comes later.
const (
	asking     = ".asking"
	asked      = ".asked"
	askingTemp = ".asking-" // and more, while it is being written
	// maxRequest bounds what is read of a request, which has about a hundred bytes.
	maxRequest = 4096
)

// RequestNames are how the names of requests begin, or after a * end.
func RequestNames() []string { return []string{askingTemp, "*" + asking, "*" + asked} }

// writtenRequest is what is in the file.
type writtenRequest struct {
	StopRequest
	Boot  string `json:"boot"`
	Start uint64 `json:"start"`
}

// RequestStop asks the owner of a run to stop, as [proctable.Owner.Terminate] does, and lets it know who asks. If that cannot be written, it is
// asked without it.
func (rec *Record) RequestStop(by StopRequest) error {
	noted := rec.noteRequest(by)
	err := rec.Owner.Terminate()
	switch {
	case !noted:
	case err != nil:
		os.Remove(rec.path + asking)
	default:
		os.Rename(rec.path+asking, rec.path+asked) // unless the owner has taken it already
		if _, err := os.Lstat(rec.path); err != nil {
			rec.dropRequests() // it has not seen the renamed one
		}
	}
	return err
}

// noteRequest writes the request, for an owner that looks for one: those of hooks and MCP servers do not. On Windows the owner is ended at
// once and cannot say anything.
func (rec *Record) noteRequest(by StopRequest) bool {
	if rec.path == "" || !rec.IsRun() || runtime.GOOS == "windows" {
		return false
	}
	owner, err := proctable.Self()
	if err != nil {
		return false
	}
	by.By, by.PID = redact.Text(by.By), owner.PID
	data, err := json.Marshal(writtenRequest{by, owner.Boot, owner.Start})
	if err == nil {
		err = atomicfile.Write(rec.path+asking, askingTemp+"*", append(data, '\n'))
	}
	return err == nil
}

// TakeRequest returns the request for which the owner has just been sent a signal. Each is returned once.
func (rec *Record) TakeRequest() (StopRequest, bool) {
	if rec == nil || rec.path == "" {
		return StopRequest{}, false
	}
	rec.asked = true
	defer rec.dropRequests()
	// In this order: it may be renamed meanwhile.
	if r, ok := readRequest(rec.path + asking); ok && (proctable.Owner{Boot: r.Boot, PID: r.PID, Start: r.Start}).Alive() {
		return r.StopRequest, true
	}
	r, ok := readRequest(rec.path + asked)
	return r.StopRequest, ok
}

// dropRequests removes what will not be looked at, in the order in which TakeRequest looks.
func (rec *Record) dropRequests() {
	os.Remove(rec.path + asking)
	os.Remove(rec.path + asked)
}

func readRequest(path string) (r writtenRequest, ok bool) {
	data, err := safefile.ReadOwn(path, maxRequest)
	if err != nil || json.Unmarshal(data, &r) != nil {
		return writtenRequest{}, false
	}
	return r, r.PID > 0 && (r.By != "" || r.Run != "")
}
