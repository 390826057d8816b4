//go:build linux

package agents_test

import "testing"

// A thread that was begun and left without a word ends as abandoned; what it has used is not known.
func TestCodex_BooksAbandoned(t *testing.T) {
	codex.Each(t, false, func(t *testing.T, version string) {
		s := codex.New(t, version, "hang-mid, 200(in=200, out=20)")
		r := s.Belay(append([]string{"--stall-timeout", "30s"}, soon...), codexAsk("say hi"))
		r.Exits(0)
		r.Is("", 2)
		r.Used(200, 20)
		log := s.Log()
		s.OnRecord(log[0].Session, "abandoned")
		s.OnRecord(r.Result.SessionID, "done")
		if !r.Result.Usage.Unknown || log[0].Session == r.Result.SessionID {
			t.Errorf("%+v", r.Result)
		}
	})
}

// Without a record, what a killed attempt has used is not known; that is not nothing. With one, only the request is not that
// was under way.
func TestCodex_BooksEphemeral(t *testing.T) {
	codex.Each(t, false, func(t *testing.T, version string) {
		const script = `tool(bash: "echo x", in=100, out=10), hang, 200(in=200, out=20)`
		for _, flags := range [][]string{{"--ephemeral"}, nil} {
			s := codex.New(t, version, script)
			r := s.Belay(append([]string{"--stall-timeout", "30s", "--no-resume-on-retry"}, soon...), codexWork(append(flags, "say hi")...))
			r.Exits(0)
			r.Is("", 2)
			if flags == nil {
				r.Used(300, 30)
			} else {
				r.Used(200, 20)
			}
			if !r.Result.Usage.Unknown {
				t.Errorf("%q: %+v", flags, r.Result.Usage)
			}
		}
	})
}
