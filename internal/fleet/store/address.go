package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
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

// How settings stand in an address that is not a URL.
var (
	passFilePair = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\s)passfile\s*=\s*(?:'([^']*)'|(\S+))`) })
	passwordPair = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`password\s*=`) })
)

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
	return passwordPair().MatchString(dsn)
}

// settle sets how PostgreSQL treats a connection. It looks for functions and operators only among its own: in a database that others use too, one of theirs with the same name would be
// called with our rights. And it gives up on a machine that is frozen, suspended or cut off: one in a transaction soon, since it may hold locks that the others wait for,
// and any other one within a minute and a half, before connections become few. By itself PostgreSQL waits for the first without end and for the others for two hours.
func (a *Address) settle(ctx context.Context, conn *pgconn.PgConn) error {
	if err := a.checkPooler(ctx, conn); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "set search_path = pg_catalog, pg_temp").ReadAll(); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, `set idle_in_transaction_session_timeout = '5s'; set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 6`).ReadAll()
	if _, refused := errors.AsType[*pgconn.PgError](err); refused { // by something that is not quite PostgreSQL: it works without
		return nil
	}
	return err
}

// poolerTime is how long the second connection of checkPooler may take. A pooler that has no other one to give lets it wait.
const poolerTime = 3 * time.Second

// checkPooler refuses a pooler that gives each transaction another connection of PostgreSQL: notifications would be lost without a word, and what is set and prepared on a connection
// would be on others. It has to come before anything is set, which would be left on a connection that others use. A pooler is known by the process that it names, which is not the one
// of PostgreSQL; what it does is seen when a second client has a transaction open: the first one is then served by another process, or the second one by that of the first.
func (a *Address) checkPooler(ctx context.Context, conn *pgconn.PgConn) error {
	first, err := backend(ctx, conn, "")
	if err != nil || first == conn.PID() {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.session {
		return nil
	}
	config := a.config.ConnConfig.Config.Copy()
	config.AfterConnect = nil
	trying, cancel := context.WithTimeout(ctx, poolerTime)
	defer cancel()
	if other, err := pgconn.ConnectConfig(trying, config); err == nil {
		defer other.Close(context.WithoutCancel(ctx))
		second, err := backend(trying, other, "begin; ")
		again := first
		if err == nil && second != first {
			if again, err = backend(ctx, conn, ""); err != nil {
				return err
			}
		}
		said, refused := errors.AsType[*pgconn.PgError](err)
		if err == nil && (second == first || again != first) || refused && strings.Contains(said.Message, "statement pooling") {
			return message.Error(message.FleetPooler(a.Text), errTold)
		}
	}
	a.session = true
	return nil
}

// backend is the process of PostgreSQL that serves a connection, after a statement.
func backend(ctx context.Context, conn *pgconn.PgConn, statement string) (uint32, error) {
	results, err := conn.Exec(ctx, statement+"select pg_backend_pid()").ReadAll()
	if err != nil {
		return 0, err
	}
	for _, r := range results {
		if len(r.Rows) == 1 {
			pid, err := strconv.ParseUint(string(r.Rows[0][0]), 10, 32)
			return uint32(pid), err
		}
	}
	return 0, errors.New("no answer")
}
