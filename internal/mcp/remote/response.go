package remote

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/verdict"
)

const byteOrderMark = "\xef\xbb\xbf"

// buffers are for reading responses.
var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

func mediaType(resp *http.Response) string {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return kind
}

func statusText(resp *http.Response) string {
	if text := http.StatusText(resp.StatusCode); text != "" {
		return strconv.Itoa(resp.StatusCode) + " " + text
	}
	return strconv.Itoa(resp.StatusCode)
}

// hintOf is how long the server asks to wait: by Retry-After, or by one of the other headers that there are for it.
func hintOf(resp *http.Response) time.Duration {
	now := time.Now()
	hint, ok := verdict.ParseRetryAfter(resp.Header.Get("Retry-After"), now)
	if !ok {
		var b strings.Builder
		resp.Header.Write(&b)
		hint, _ = verdict.ParseHint(b.String(), now)
	}
	return max(0, hint.Wait(now))
}

// discard leaves a response, and its connection to the next request if little is left of it.
func discard(resp *http.Response) {
	io.CopyN(io.Discard, resp.Body, 64<<10)
	resp.Body.Close()
}

// copyJSON writes a JSON text on one line: a line end in it can only be a space.
func copyJSON(to io.Writer, from io.Reader) error {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for first := true; ; first = false {
		n, err := io.ReadFull(from, (*buf)[:len(*buf)-1])
		b := (*buf)[:n]
		if first {
			b = bytes.TrimPrefix(b, []byte(byteOrderMark))
		}
		for i, ch := range b {
			if ch == '\n' || ch == '\r' {
				b[i] = ' '
			}
		}
		switch err {
		case nil:
			to.Write(b)
		case io.EOF, io.ErrUnexpectedEOF: // of ReadFull; net/http's own means that the body was cut
			if cut(from) {
				return io.ErrUnexpectedEOF
			}
			to.Write(append(b, '\n'))
			return nil
		default:
			return err
		}
	}
}

// cut says whether a body that has ended was not to end there. ReadFull cannot tell.
func cut(body io.Reader) bool {
	_, err := body.Read(make([]byte, 1))
	return err != nil && err != io.EOF
}

// maxExcerpt is how much is read of what a server says with a bad status.
const maxExcerpt = 16 << 10

// errorIn finds a JSON-RPC error in a response with a bad status, and makes an answer of it for the request. addressed says that
// the server has named that request; else the error may be of the session.
func errorIn(body []byte, id string) (line []byte, addressed bool) {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   json.RawMessage `json:"error"`
	}
	if id == "" || json.Unmarshal(body, &m) != nil || m.Version != "2.0" || len(m.Error) == 0 || m.Error[0] != '{' {
		return nil, false
	}
	var b bytes.Buffer
	b.WriteString(`{"jsonrpc":"2.0","id":` + id + `,"error":`)
	if json.Compact(&b, m.Error) != nil {
		return nil, false
	}
	b.WriteString("}\n")
	return b.Bytes(), string(m.ID) == id
}

// namesSession says whether a server complains of the session: there are some that do not answer 404.
func namesSession(body []byte) bool {
	text := bytes.ToLower(body)
	return bytes.Contains(text, []byte("session")) || bytes.Contains(text, []byte("not initialized"))
}
