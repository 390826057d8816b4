package gh

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/safefile"
)

// changes reports whether the command may change something. What is not understood may.
func (l *line) changes() bool {
	switch {
	case !l.known:
		return true
	case l.command == "pr create" && l.full && l.opts.Has("--dry-run"):
		return false
	case !l.isAPI():
		return l.traits&reads == 0
	case !l.full:
		return true
	case l.isGraphQL():
		query, whole := l.query()
		return !whole || isMutation(query)
	case l.opts.Has("--method"):
		switch strings.ToUpper(l.opts.Value("--method")) {
		case "GET", "HEAD", "OPTIONS":
			return false
		}
		return true
	}
	return l.opts.Has("--field") || l.opts.Has("--raw-field") || l.opts.Has("--input")
}

// maxQuery is how much of a query in a file is read.
const maxQuery = 1 << 20

// query is the GraphQL query of `gh api graphql`; false if it cannot be seen from here.
func (l *line) query() (string, bool) {
	if l.opts.Has("--input") {
		body, ok := l.file(l.opts.Value("--input"))
		return queryOf(body), ok
	}
	query, whole, given := "", false, 0
	for _, a := range l.opts.Read {
		if a.Name != "--field" && a.Name != "--raw-field" {
			continue
		}
		value, ok := strings.CutPrefix(a.Values[0], "query=")
		if !ok {
			continue
		}
		given++
		query, whole = value, true
		if path, isFile := strings.CutPrefix(value, "@"); isFile && a.Name == "--field" {
			var content []byte
			content, whole = l.file(path)
			query = string(content)
		}
	}
	return query, whole && given == 1 // which of several counts depends on the version
}

// file is the content of a file that the command line names; false if it cannot be read, is too long, or is stdin.
func (l *line) file(path string) ([]byte, bool) {
	if path == "-" || path == "" {
		return nil, false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.dir, path)
	}
	content, err := safefile.ReadRegular(path, maxQuery) // reading a pipe would take the input from gh
	return content, err == nil
}

// maxShortLimit is how many results come in one page.
const maxShortLimit = 100

// short reports whether the command is known to be one or two short requests.
func (l *line) short() bool {
	if l.isAPI() {
		return l.full && !l.opts.Has("--paginate") && !l.opts.Has("--input") && !l.downloads()
	}
	if l.traits&short == 0 || l.has(longOptions[l.command]...) {
		return false
	}
	for i, a := range l.rest {
		name, value, joined := strings.Cut(a, "=")
		if name != "-L" && name != "--limit" {
			continue
		}
		if !joined && i+1 < len(l.rest) {
			value = l.rest[i+1]
		}
		if n, err := strconv.Atoi(value); err != nil || n > maxShortLimit {
			return false
		}
	}
	return true
}

// largePaths are the parts of REST paths whose answer may be large.
var largePaths = []string{"zipball", "tarball", "archive", "zip", "logs", "assets", "blobs", "contents", "artifacts", "raw", "sarif", "archive_link"}

// downloads reports whether `gh api` may fetch something large.
func (l *line) downloads() bool {
	path := l.endpoint()
	if strings.Contains(path, "://") {
		return true
	}
	path, _, _ = strings.Cut(path, "?")
	for part := range strings.SplitSeq(path, "/") {
		if slices.Contains(largePaths, part) {
			return true
		}
	}
	return l.wantsNonJSON()
}

// wantsNonJSON reports whether `gh api` asks for another kind of answer than JSON.
func (l *line) wantsNonJSON() bool {
	for _, a := range l.opts.Read {
		if a.Name != "--header" {
			continue
		}
		name, value, _ := strings.Cut(a.Values[0], ":")
		if strings.EqualFold(strings.TrimSpace(name), "accept") && !strings.Contains(value, "json") {
			return true
		}
	}
	return false
}

// maxTraced is the largest file to upload that the trace may copy through stderr.
const maxTraced = 1 << 20

// traced reports whether the command is started with the trace on.
func (l *line) traced() bool {
	if !l.known || l.traits&untraced != 0 || l.has("--attach") {
		return false
	}
	if !l.isAPI() || !l.opts.Has("--input") || l.opts.Value("--input") == "-" {
		return true
	}
	path := l.opts.Value("--input")
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.dir, path)
	}
	info, err := os.Stat(path)
	return err == nil && info.Size() <= maxTraced
}
