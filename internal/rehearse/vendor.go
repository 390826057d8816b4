package rehearse

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// vendor is the stand-in for one API: which requests are its own, what they ask, and what its answers look like. How an
// answer is delayed, cut or spoilt is the same for all of them.
type vendor interface {
	name() string
	// claims says whether a request is for this API.
	claims(r *http.Request) bool
	// read parses a request.
	read(r *http.Request, body []byte) call
	// good is the answer to a main request; n counts them, for ids.
	good(c *call, s *Step, n int) reply
	// fail is an error of this status.
	fail(c *call, s *Step, n int) reply
	// failInside is the event that says an error in a stream that has begun.
	failInside(c *call, s *Step, n int) []byte
	// side answers a request that is not part of the work.
	side(c *call) reply
	// prepare makes what the CLI wants to find on disk; environ is what it wants in its environment.
	prepare(a *API) error
	environ(a *API) []string
}

// vendors are all stand-ins. A new one is a file and a row here. The first that claims a request answers it.
var vendors = []vendor{github{}, anthropic{}, openai{}, gemini{}, chat{}}

// Vendors are the names of the stand-ins.
func Vendors() (names []string) {
	for _, v := range vendors {
		names = append(names, v.name())
	}
	return names
}

// call is what a request asks.
type call struct {
	r            *http.Request
	main, stream bool
	subscription bool
	model        string
	session      string
	last         string   // the last text that the user or a tool has said
	tools        []string // the names of the tools that the model may call
	shell        chatTool // that of them which runs commands
	api          *API
	body         []byte
	refusal      func(body []byte) *Step // why a strict service refuses its history; nil for one that looks at none
}

// reply is an answer, in pieces that are sent one after another.
type reply struct {
	status int
	header http.Header
	chunks [][]byte
	// cuts are the numbers of pieces that have been sent at each place.
	cuts map[Place]int
	// inside is what says an error in the middle.
	inside []byte
	// usage is what the answer costs, of an API that counts tokens.
	usage Usage
}

// jsonReply is an answer of one JSON value. It can be cut in the middle.
func jsonReply(status int, value any) reply {
	body := append(encode(value), '\n')
	half := len(body) / 2
	return reply{status: status, header: http.Header{"Content-Type": {"application/json"}},
		chunks: [][]byte{body[:half], body[half:]},
		cuts:   map[Place]int{AtStart: 0, InText: 1, AfterBlock: 1}}
}

// events builds the pieces of a stream.
type events struct {
	chunks [][]byte
	cuts   map[Place]int
}

// add adds one server-sent event.
func (e *events) add(name string, value any) {
	e.chunks = append(e.chunks, event(name, value))
}

// mark remembers that this is a place to cut at. The first of a kind counts.
func (e *events) mark(at Place) {
	if e.cuts == nil {
		e.cuts = map[Place]int{}
	}
	if _, there := e.cuts[at]; !there {
		e.cuts[at] = len(e.chunks)
	}
}

// words calls add for each piece of a text. In its middle is a place to cut at.
func (e *events) words(text string, add func(piece string)) {
	words := pieces(text)
	for i, piece := range words {
		if i == len(words)/2 {
			e.mark(InText)
		}
		add(piece)
	}
}

// event is a server-sent event. Those of some APIs have no names.
func event(name string, value any) []byte {
	head := "data: "
	if name != "" {
		head = "event: " + name + "\n" + head
	}
	return append(append([]byte(head), encode(value)...), '\n', '\n')
}

func (e *events) reply() reply {
	return reply{status: http.StatusOK, chunks: e.chunks, cuts: e.cuts,
		header: http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}, "Cache-Control": {"no-cache"}}}
}

// object is a JSON object.
type object = map[string]any

func encode(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // made of strings and numbers
	}
	return data
}

// charged is the usage of a good answer.
func (s *Step) charged() Usage {
	u := s.Usage
	if u.Input < 0 {
		u.Input = 10
	}
	if u.Output < 0 {
		u.Output = 5
	}
	u.CacheRead, u.CacheCreate = max(u.CacheRead, 0), max(u.CacheCreate, 0)
	return u
}

// text is what the model says.
func (s *Step) text() string {
	if s.Text == "" && s.Tool == "" {
		return DefaultText
	}
	return s.Text
}

// callID is what names the call of a tool, the i-th of the n-th answer.
func (s *Step) callID(n, i int) string {
	id := fmt.Sprintf("%s%04d", cmp.Or(s.Poison, "rehearsal"), n)
	if i == 0 {
		return id
	}
	return fmt.Sprintf("%s_%d", id, i)
}

// resetTime is when a used-up plan is renewed: a whole second, as the vendors have it.
func (s *Step) resetTime() time.Time { return time.Now().Add(s.Resets).Truncate(time.Second) }

// pieces cuts a text into words, with their spaces, as a model says it. Those of a long text are joined: an event a word would make too many.
func pieces(text string) (list []string) {
	words := slices.DeleteFunc(strings.SplitAfter(text, " "), func(word string) bool { return word == "" })
	for some := range slices.Chunk(words, 1+len(words)/64) {
		list = append(list, strings.Join(some, ""))
	}
	return list
}
