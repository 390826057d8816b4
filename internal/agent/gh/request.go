package gh

import (
	"strings"
	"time"
)

// request is what the trace says of one request.
type request struct {
	method, url string
	began       time.Time
	took        time.Duration
	ended       bool
	kind, name  string // of the GraphQL operation
	changes     bool
	cacheable   bool   // gh keeps the answer on disk, and may have had it from there
	broke       string // why there was no answer
	cut         string // why the answer is not whole
	answer
}

// path is the path of the address, without its query: that may be private.
func (r *request) path() string {
	_, rest, _ := strings.Cut(r.url, "://")
	_, path, _ := strings.Cut(rest, "/")
	path, _, _ = strings.Cut(path, "?")
	return "/" + path
}

func (r *request) graphql() bool { p := r.path(); return p == "/graphql" || p == "/api/graphql" }
