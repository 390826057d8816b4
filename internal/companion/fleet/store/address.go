package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/safefile"
)

// Variable is the environment variable that names the PostgreSQL of the fleet.
const Variable = "BELAY_FLEET_DSN"

const (
	// connectWithin is how long a connection may take to be made. libpq and pgx wait without end.
	connectWithin = 10 * time.Second
	// poolSize is how many connections a process has besides the one that listens.
	poolSize = 3
)

// ErrNoAddress says that nothing names the PostgreSQL of the fleet.
var ErrNoAddress = errors.New("no address of PostgreSQL")

// Address says where PostgreSQL is and as whom one connects.
type Address struct {
	config *pgxpool.Config
	// Text names the server and the database, for messages. There is no password in it.
	Text string
	// Ignored says that the file of passwords is not used, and why; empty if there is nothing to say.
	Ignored string

	mu      sync.Mutex
	session bool // what is between us and PostgreSQL keeps a connection for each client
}

// ParseAddress makes an address of a flag, of [Variable] or of libpq's variables, the first of these that is set. A password has to be in a file:
// arguments and environments of processes can be read by others.
func ParseAddress(dsn string, getenv func(string) string) (*Address, error) {
	if dsn == "" {
		dsn = getenv(Variable)
	}
	if dsn == "" && getenv("PGHOST") == "" && getenv("PGSERVICE") == "" && getenv("PGDATABASE") == "" {
		return nil, message.Error("the fleet's PostgreSQL is not set; use --dsn, BELAY_FLEET_DSN or PGHOST and PGDATABASE", ErrNoAddress)
	}
	if hasPassword(dsn) {
		return nil, message.Error("the DSN contains a password, which other users could read; put it in ~/.pgpass, or in a file that PGPASSFILE names")
	}
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, message.Error("cannot read the DSN: " + why(err))
	}
	c := config.ConnConfig
	ignored := ""
	if err := safefile.CheckSecret(passFile(dsn, getenv)); c.Password != "" && err != nil && !errors.Is(err, fs.ErrNotExist) {
		if without, werr := pgxpool.ParseConfig(withoutPassFile(dsn)); werr == nil && without.ConnConfig.Password != c.Password { // else it comes from PGPASSWORD or a service
			c.Password, ignored = "", fmt.Sprintf("ignoring the password file: %v", err)
		}
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = connectWithin
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "belay"
	}
	config.MaxConns, config.MinConns = poolSize, 0
	config.MaxConnIdleTime = 5 * time.Minute
	a := &Address{config: config, Text: addressText(c.Host, c.Port, c.Database), Ignored: ignored}
	c.AfterConnect = a.settle
	return a, nil
}

// passFile is the file in which pgx looks for a password.
func passFile(dsn string, getenv func(string) string) string {
	if isURL(dsn) {
		if _, q := parseURL(dsn); q.Has("passfile") {
			return q.Get("passfile")
		}
	} else if m := passFilePair().FindStringSubmatch(dsn); m != nil {
		return cmp.Or(m[1], m[2])
	}
	if path := getenv("PGPASSFILE"); path != "" {
		return path
	}
	home, _ := os.UserHomeDir()
	return filepath.Join(home, ".pgpass")
}

var passFilePair = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|\s)passfile\s*=\s*(?:'([^']*)'|(\S+))`)
})

// withoutPassFile is an address that looks for no password in a file.
func withoutPassFile(dsn string) string {
	if !isURL(dsn) {
		return dsn + " passfile=" + os.DevNull
	}
	u, q := parseURL(dsn)
	q.Set("passfile", os.DevNull)
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
	return u.String()
}

// parseURL takes an address apart that pgx has understood. In its settings a plus sign is a plus sign, as libpq has it.
func parseURL(dsn string) (*url.URL, url.Values) {
	u, err := url.Parse(dsn)
	if err != nil {
		return &url.URL{}, url.Values{}
	}
	q, _ := url.ParseQuery(strings.ReplaceAll(u.RawQuery, "+", "%2B"))
	return u, q
}

// isURL reports in which of the forms that libpq knows an address is.
func isURL(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// why is what pgx says of an address, without the address.
func why(err error) string {
	text := err.Error()
	if _, rest, ok := strings.Cut(text, "`: "); ok {
		text = rest
	}
	return redact.Text(text)
}

// hasPassword reports whether an address has a password in it, in either of the forms that libpq knows.
func hasPassword(dsn string) bool {
	if isURL(dsn) {
		u, err := url.Parse(dsn)
		if err != nil { // which may be because of the password
			head, _, _ := strings.Cut(dsn[strings.Index(dsn, "//")+2:], "@")
			return strings.Contains(head, ":") && strings.Contains(dsn, "@") || strings.Contains(dsn, "password=")
		}
		_, given := u.User.Password()
		return given || u.Query().Has("password") || u.Query().Has("sslpassword")
	}
	key, _, found := strings.Cut(dsn, "password")
	for found {
		rest := strings.TrimLeft(dsn[len(key)+len("password"):], " \t\n\r")
		if strings.HasPrefix(rest, "=") {
			return true
		}
		var more string
		more, _, found = strings.Cut(rest, "password")
		key = dsn[:len(dsn)-len(rest)+len(more)]
	}
	return false
}
