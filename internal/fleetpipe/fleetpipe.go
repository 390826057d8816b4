// Package fleetpipe is what belay batch --fleet and belayd say to each other, one JSON object a line: belay knows what a task is and keeps the results,
// belayd knows PostgreSQL and the queue.
//
// belay sends [Order]s: jobs, which are submitted together when all of them are there, what it has written down, and its request to stop. belayd answers
// with [Report]s.
package fleetpipe

import (
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"
)

// Job is what a worker is to run. It is encrypted on its way.
type Job struct {
	Args   []string `json:"args"`
	Prompt *string  `json:"prompt,omitempty"`
	Dir    string   `json:"dir,omitempty"`
	// Files are brought to the worker; the job then works there, and has no Dir.
	Files *Files            `json:"files,omitempty"`
	Env   map[string]string `json:"env,omitempty"`
	// Parts says that the submitter can take the text of a result in parts. A Belay that cannot does not say so.
	Parts bool `json:"parts,omitempty"`
	// Conceal are texts in Args that no log may quote.
	Conceal []string `json:"conceal,omitempty"`
	// Profile is what the command is treated as, if the caller has said so.
	Profile string `json:"profile,omitempty"`
	// Flags are settings of belay run, by name.
	Flags map[string]string `json:"flags,omitempty"`
	Tags  map[string]string `json:"tags,omitempty"`
	// Needs are the needs of the task, which others can change where the queue has them. Nil says nothing: a Belay that does not know the field has submitted it.
	Needs []string `json:"needs,omitzero"`
	// Expires is when no machine may begin it any more, by PostgreSQL's clock; zero if it does not expire.
	Expires time.Time `json:"expires,omitzero"`
}

// ConcealVar names the file by which a worker tells belay run what [Job.Conceal] says.
const ConcealVar = "BELAY_CONCEAL_FILE"

// plainJob is a job without methods.
type plainJob Job

// wireJob is how a job is written. What users give may be any bytes, and JSON is text.
type wireJob struct {
	Args    []anyBytes          `json:"args"`
	Prompt  *anyBytes           `json:"prompt,omitempty"`
	Dir     anyBytes            `json:"dir,omitempty"`
	Env     map[string]anyBytes `json:"env,omitempty"`
	Conceal []anyBytes          `json:"conceal,omitempty"`
	*plainJob
}

// MarshalJSON implements [json.Marshaler].
func (j Job) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireJob{append([]anyBytes{}, as[anyBytes](j.Args)...), (*anyBytes)(j.Prompt), anyBytes(j.Dir), asMap[anyBytes](j.Env), as[anyBytes](j.Conceal), (*plainJob)(&j)})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (j *Job) UnmarshalJSON(data []byte) error {
	w := wireJob{plainJob: (*plainJob)(j)}
	err := json.Unmarshal(data, &w)
	j.Args, j.Prompt, j.Dir, j.Env, j.Conceal = as[string](w.Args), (*string)(w.Prompt), string(w.Dir), asMap[string](w.Env), as[string](w.Conceal)
	return err
}

func as[To, From ~string](list []From) (all []To) {
	for _, one := range list {
		all = append(all, To(one))
	}
	return all
}

func asMap[To, From ~string](from map[string]From) map[string]To {
	if len(from) == 0 {
		return nil
	}
	all := map[string]To{}
	for name, one := range from {
		all[name] = To(one)
	}
	return all
}

// anyBytes is written as a string or, if it is not UTF-8, as an object with its bytes. A worker that does not know that refuses the job.
type anyBytes string

// MarshalJSON implements [json.Marshaler].
func (b anyBytes) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(b)) {
		return json.Marshal(string(b))
	}
	return json.Marshal(map[string][]byte{"bytes": []byte(b)})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (b *anyBytes) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var w struct{ Bytes []byte }
		err := json.Unmarshal(data, &w)
		*b = anyBytes(w.Bytes)
		return err
	}
	return json.Unmarshal(data, (*string)(b))
}

// Size is about how large the job is.
func (j *Job) Size() (n int64) {
	for _, arg := range j.Args {
		n += int64(len(arg))
	}
	if j.Prompt != nil {
		n += int64(len(*j.Prompt))
	}
	return n
}

// Files are what a job works on, unless it works in a shared path.
type Files struct {
	// Repository is a git repository, and Commit what is checked out of it.
	Repository string `json:"repository,omitempty"`
	Commit     string `json:"commit,omitempty"`
	// Dir is the directory in it that the job works in, with slashes; empty for all of it.
	Dir string `json:"dir,omitempty"`
	// Archive names what was packed, in place of a repository.
	Archive string `json:"archive,omitempty"`
}

// How the files of a task get to the machine that works on it.
const (
	ByPath    = "path"    // by a path that both machines have
	ByGit     = "git"     // as the commit that is checked out
	ByArchive = "archive" // packed and sent
)

// Pick is a directory of the submitter whose files a task needs. belayd turns it into [Files].
type Pick struct {
	By  string `json:"by"`
	Dir string `json:"dir"`
}

// Task is a job with what it is known by.
type Task struct {
	ID   string `json:"id"`
	Hash string `json:"hash"`
	// Needs are the labels that a machine must have to run it.
	Needs []string `json:"needs,omitempty"`
	// Expires is how long after its submission a machine has to begin it; 0 if it does not expire.
	Expires time.Duration `json:"expires,omitempty"`
	// Again says that an earlier result of it does not count.
	Again bool `json:"again,omitempty"`
	// Pick becomes the files of the job.
	Pick *Pick `json:"pick,omitempty"`
	Job  Job   `json:"job"`
}

// Order is what belay wants; one of these is set.
type Order struct {
	// Batch names the batch. It comes first.
	Batch string `json:"batch,omitempty"`
	// Except are paths that are not packed, with Batch: its results.
	Except []string `json:"except,omitempty"`
	Task   *Task    `json:"task,omitempty"`
	// Submit submits the tasks that came before, in one transaction.
	Submit bool `json:"submit,omitempty"`
	// Taken are results that are written down.
	Taken []int64 `json:"taken,omitempty"`
	// Withdraw takes back all jobs that no machine works on yet; Cancel stops the others too.
	Withdraw bool `json:"withdraw,omitempty"`
	Cancel   bool `json:"cancel,omitempty"`
}

// Report is what belayd says; one of these is set.
type Report struct {
	// Submitted says that the transaction is committed.
	Submitted bool    `json:"submitted,omitempty"`
	Result    *Result `json:"result,omitempty"`
	// Part is the next part of the text of a result, which comes after all its parts.
	Part *Part `json:"part,omitempty"`
	// Running are the jobs that machines work on now.
	Running *[]Running `json:"running,omitempty"`
	// Withdrawn are the ids of tasks that were taken back.
	Withdrawn []string `json:"withdrawn,omitempty"`
	// Refused is why the tasks cannot be submitted; none of the batch was yet.
	Refused string `json:"refused,omitempty"`
	// Say is a message for the user, and Failed says why belayd gives up.
	Say    string `json:"say,omitempty"`
	Failed string `json:"failed,omitempty"`
}

// Running is a job that a machine works on.
type Running struct {
	Task    string  `json:"task"`
	Machine string  `json:"machine"`
	Doing   string  `json:"doing,omitempty"`
	Cost    float64 `json:"cost_usd,omitempty"`
}

// Result is what has become of a job.
type Result struct {
	ID   int64  `json:"id"` // of the job, see [Order.Taken]
	Task string `json:"task"`
	Hash string `json:"hash"`
	Outcome
}

// Outcome is what a worker reports of a job.
type Outcome struct {
	Machine string `json:"machine,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	// Begun is new, resumed or restarted, as in the results of a batch.
	Begun string `json:"begun,omitempty"`
	// Paid is what earlier attempts have cost, as far as is known. The cost in Result is that of the last one.
	Paid float64 `json:"paid_usd,omitempty"`
	// Result is the result of belay run; nil if none was written.
	Result json.RawMessage `json:"result,omitempty"`
	// Text is in place of Result where that is large.
	Text *Text `json:"text,omitempty"`
	// Error is why there is none, or why it does not count.
	Error  string `json:"error,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	// Cancelled says that it was stopped because the batch was.
	Cancelled bool `json:"cancelled,omitempty"`
}

// Text is a result whose text is stored in parts: the result is Before, the text as a JSON string, and After.
type Text struct {
	Before []byte `json:"before"`
	After  []byte `json:"after"`
	// Mark and Parts say where the text is: in so many parts that have this mark.
	Mark  string `json:"mark"`
	Parts int    `json:"parts"`
}

// Part is a part of a text.
type Part struct {
	ID   int64  `json:"id"` // of the job
	Data []byte `json:"data"`
}

// Head is the result without its text; nil if there is no result.
func (o *Outcome) Head() json.RawMessage {
	if o.Text == nil {
		return o.Result
	}
	return slices.Concat(o.Text.Before, []byte("null"), o.Text.After)
}
