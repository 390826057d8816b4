package relay

// report tells the client and the record what has become of a call that the server has not answered well.
type report struct {
	out  Outlets
	life *life
}

// record puts an incident on record.
func (r *report) record(i Incident) {
	i.generation, i.pid = r.life.generation, r.life.pid
	r.out.Record(i)
}

// failed records that a call of the client has failed.
func (r *report) failed(k *call, i Incident) {
	if k.id == "" || k.cancelled { // ours, or on record already
		return
	}
	i.event, i.method, i.tool = "request_error", k.method, k.tool
	if k.method == "tools/call" {
		i.event, i.input = "tool_error", k.digest()
		i.text = k.withoutArguments(i.text)
	}
	i.retries = k.retries
	r.record(i)
}

// fail answers a call of the client in place of the server, and puts it on record with what i says. A tool's failure is a
// result, which models get to see; anything else is an error.
func (r *report) fail(k *call, code int, text string, i Incident) {
	r.failed(k, i)
	switch {
	case k.id == "" || k.cancelled:
	case k.method == "tools/call":
		r.out.ToClient(toolFailed(k.id, text, k.modern))
	default:
		r.refuse([]byte(k.id), code, text)
	}
}

// refuse answers with an error.
func (r *report) refuse(id []byte, code int, text string) {
	r.out.ToClient(errorAnswer(id, code, text))
}

// tally counts what can happen very often: it is on record for the first time, the tenth, the hundredth and so on.
type tally int

// counts counts one more, and reports whether it is to be on record.
func (t *tally) counts() bool {
	*t++
	n := *t
	for n >= 10 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}
