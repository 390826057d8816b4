package verdict

import (
	"encoding/json"
	"time"
)

// wire is a verdict as `belay explain --json` prints it. Every key is always
// there; null means that the outcome does not say.
type wire struct {
	Class      Class           `json:"class"`
	Retryable  bool            `json:"retryable"`
	RetryAfter *float64        `json:"retry_after_s"`
	ResetAt    *string         `json:"reset_at"`
	Sent       *Sent           `json:"sent"`
	SessionID  *string         `json:"session_id"`
	Usage      json.RawMessage `json:"usage"`
	Rule       *string         `json:"rule"`
	Evidence   *string         `json:"evidence"`
}

// MarshalJSON writes the verdict with the keys class, retryable, retry_after_s,
// reset_at, sent, session_id, usage, rule and evidence. What is not known is
// null. An inferred reset (see [Hint]) is not a fact of the outcome and so is
// null as well.
func (v Verdict) MarshalJSON() ([]byte, error) {
	w := wire{
		Class:     v.Class,
		Retryable: v.Retryable,
		Sent:      nilIfEmpty(v.Sent),
		SessionID: nilIfEmpty(v.SessionID),
		Rule:      nilIfEmpty(v.Rule),
		Evidence:  nilIfEmpty(v.Evidence),
	}
	if v.Hint.After > 0 {
		s := v.Hint.After.Seconds()
		w.RetryAfter = &s
	}
	if !v.Hint.At.IsZero() && !v.Hint.Inferred {
		s := ceilSecond(v.Hint.At).UTC().Format(time.RFC3339)
		w.ResetAt = &s
	}
	// Usage is foreign: a torn piece of it must not lose the verdict.
	if json.Valid(v.Usage) {
		w.Usage = v.Usage
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what [Verdict.MarshalJSON] wrote.
func (v *Verdict) UnmarshalJSON(data []byte) error {
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*v = Verdict{
		Class:     w.Class,
		Retryable: w.Retryable,
		Sent:      value(w.Sent),
		SessionID: value(w.SessionID),
		Rule:      value(w.Rule),
		Evidence:  value(w.Evidence),
	}
	if string(w.Usage) != "null" {
		v.Usage = w.Usage
	}
	if w.RetryAfter != nil {
		v.Hint.After, _ = scale(*w.RetryAfter, time.Second)
	}
	if w.ResetAt != nil {
		at, err := time.Parse(time.RFC3339, *w.ResetAt)
		if err != nil {
			return err
		}
		v.Hint.At = at
	}
	return nil
}

// nilIfEmpty returns nil for the empty string, which means "not known".
func nilIfEmpty[T ~string](s T) *T {
	if s == "" {
		return nil
	}
	return &s
}

func value[T ~string](p *T) T {
	if p == nil {
		return ""
	}
	return *p
}

// ceilSecond rounds up: a reset that is printed early invites a call too soon.
func ceilSecond(t time.Time) time.Time {
	if down := t.Truncate(time.Second); down.Before(t) {
		return down.Add(time.Second)
	}
	return t
}
