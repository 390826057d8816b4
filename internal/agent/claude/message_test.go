package claude

import "testing"

// What makes it claude's turn in a conversation is a message; to other lines there may be no answer.
func TestInfo_Asks(t *testing.T) {
	info := New([]string{"claude", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"}, nil).Info()
	for line, want := range map[string]bool{
		`{"type":"user","message":{"role":"user","content":"hi"}}`:            true,
		`{"message":{"role":"user","type":"x"},"type":"user"}`:                true,
		`{"type":"control_response","response":{"type":"user"}}`:              false,
		`{"type":"control_request","request":{"subtype":"interrupt"}}`:        false,
		`{"type":"keep_alive"}`:                                               false,
		`{"type":"update_environment_variables","variables":{"type":"user"}}`: false,
		"": false, "user": false, `"user"`: false, `{"type":"user"`: false, `{"type":7}`: false,
	} {
		if got := info.Asks([]byte(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
	if New([]string{"claude", "-p", "hi"}, nil).Info().Asks != nil {
		t.Error("nothing is said to one that works on a request")
	}
}
