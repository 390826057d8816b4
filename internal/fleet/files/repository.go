package files

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
)

// Repository is where a git repository is: a URL, user@host:path, or an absolute path.
type Repository struct {
	text     string
	protocol string // by which git reaches it
	path     string // of one in the file system
}

// maxRepository is how long the name of a repository may be.
const maxRepository = 2000

// scp is the short form of an ssh URL.
var scp = regexp.MustCompile(`^(?:[A-Za-z0-9_][A-Za-z0-9._-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*:([^-:].*)$`)

// ParseRepository reads where a repository is. It refuses everything that git could take for an option or for the name of a program, and spellings
// that would make one place look like another.
func ParseRepository(text string) (r Repository, err error) {
	wrong := message.Error(fmt.Sprintf("%s is not a repository that can be used here: it has to be an https or ssh URL without a password, user@host:path, or an absolute path", printable.Line(text)))
	strange := func(c rune) bool { return unicode.IsControl(c) || unicode.IsSpace(c) || c == '\\' || c == '%' }
	if text == "" || len(text) > maxRepository || !utf8.ValidString(text) || text[0] == '-' || strings.Contains(text, "::") {
		return r, wrong
	}
	if rest, ok := strings.CutPrefix(text, "file://"); ok {
		text = rest
	}
	if filepath.IsAbs(text) {
		if strings.ContainsFunc(text, unicode.IsControl) {
			return r, wrong
		}
		return Repository{filepath.Clean(text), "file", filepath.Clean(text)}, nil
	}
	if strings.ContainsFunc(text, strange) || slices.Contains(strings.FieldsFunc(text, func(c rune) bool { return c == '/' || c == ':' }), "..") {
		return r, wrong
	}
	if !strings.Contains(text, "://") {
		if !scp.MatchString(text) {
			return r, wrong
		}
		return Repository{text: text, protocol: "ssh"}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || strings.HasPrefix(u.Host, "-") || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Trim(u.Path, "/") == "" {
		return r, wrong
	}
	_, hasPassword := u.User.Password()
	switch u.Scheme {
	case "ssh":
		if hasPassword || strings.HasPrefix(u.User.Username(), "-") {
			return r, wrong
		}
	case "https", "http", "git":
		if u.User != nil {
			return r, wrong
		}
	default:
		return r, wrong
	}
	return Repository{text: text, protocol: u.Scheme}, nil
}

// String is what git is given.
func (r Repository) String() string { return r.text }

// AllowedBy reports whether it is among repositories, or below one of them that ends with a slash, or in one of the directories.
func (r Repository) AllowedBy(repositories, roots []string) bool {
	if r.path != "" {
		real, err := filepath.EvalSymlinks(r.path)
		return err == nil && slices.ContainsFunc(roots, func(root string) bool {
			root, err := filepath.EvalSymlinks(root)
			return err == nil && Within(root, real)
		})
	}
	return slices.ContainsFunc(repositories, func(one string) bool {
		return bare(one) == bare(r.text) || strings.HasSuffix(one, "/") && strings.HasPrefix(r.text, one)
	})
}

// bare is the name of a repository without a trailing slash and .git, which make no difference.
func bare(text string) string { return strings.TrimSuffix(strings.TrimRight(text, "/"), ".git") }
