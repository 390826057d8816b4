package redact_test

import (
	"bufio"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/test/must"
)

//go:embed testdata/ordinary.txt
var ordinary string

// Of ordinary error lines fewer than one in a hundred loses anything: those of git, gh, npm, the agents, compilers and services
// with ordinary values in them, what the real CLIs have printed, and the messages in Go's own sources.
func TestText_OrdinaryErrors(t *testing.T) {
	lines := map[string]bool{}
	values := &values{rand.New(rand.NewPCG(7, 0))}
	rounds := 25
	if clitest.Full() {
		rounds = 100
	}
	for line := range strings.Lines(ordinary) {
		if line = strings.TrimRight(line, "\n"); strings.HasPrefix(line, "#  ") || line == "" {
			continue
		}
		for range rounds {
			lines[values.fill(line)] = true
		}
	}
	generated := len(lines)
	recorded(t, lines)
	real := len(lines) - generated
	goErrors(values, lines)
	if len(lines) < 10_000 {
		t.Fatalf("there are only %d lines", len(lines))
	}
	lost, tried := 0, 0
	for i, line := range slices.Sorted(maps.Keys(lines)) {
		if !clitest.OneOf(4, i) {
			continue
		}
		tried++
		if got := redact.Text(line); got != line {
			if lost++; lost <= 50 {
				t.Logf("%q\nbecame %q", line, got)
			}
		}
	}
	t.Logf("%d of %d lines lose something; %d generated, %d of real CLIs, %d of Go's sources", lost, tried, generated, real, len(lines)-generated-real)
	if lost*100 >= tried {
		t.Errorf("%d of %d lines lose something", lost, tried)
	}
}

// recorded adds what the real CLIs have printed.
func recorded(t *testing.T, lines map[string]bool) {
	files, _ := filepath.Glob("../agent/*/testdata/*.jsonl")
	if len(files) == 0 {
		t.Fatal("there are no outcomes of the CLIs")
	}
	for _, path := range files {
		f, err := os.Open(path)
		must.OK(t, err)
		defer f.Close()
		for in := bufio.NewScanner(f); in.Scan(); {
			var outcome struct{ Stdout, Stderr string }
			json.Unmarshal(in.Bytes(), &outcome)
			for line := range strings.Lines(outcome.Stdout + "\n" + outcome.Stderr) {
				if line = strings.TrimRight(line, "\n"); line != "" && len(line) < 4000 {
					lines[line] = true
				}
			}
		}
	}
}

var message = regexp.MustCompile(`^"[^"\n]*[a-z]{3}[^"\n]* [^"\n]*"$`)

// goErrors adds the texts in Go's sources that are messages, with values in the place of their verbs.
func goErrors(v *values, lines map[string]bool) {
	verb := regexp.MustCompile(`%[-+# 0-9.*]*[a-zA-Z]`)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return
	}
	for _, dir := range []string{"net", "os", "encoding", "cmd/go", "database", "archive", "io", "text", "mime", "time", "cmd/compile", "cmd/link"} {
		filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src", dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			if info, err := d.Info(); err != nil || info.Size() > 200<<10 {
				return nil
			}
			source, _ := os.ReadFile(path)
			var s scanner.Scanner
			set := token.NewFileSet()
			s.Init(set.AddFile(path, -1, len(source)), source, func(token.Position, string) {}, 0)
			for {
				_, tok, text := s.Scan()
				if tok == token.EOF {
					return nil
				}
				if tok == token.STRING && message.MatchString(text) {
					if line, err := strconv.Unquote(text); err == nil {
						lines[verb.ReplaceAllStringFunc(line, func(string) string { return v.one([]string{"word", "file", "path", "num", "host", "ident"}[v.IntN(6)]) })] = true
					}
				}
			}
		})
	}
}

// values draws what stands in error lines.
type values struct{ *rand.Rand }

var placeholder = regexp.MustCompile(`\{[a-z0-9]+\}`)

func (v *values) fill(line string) string {
	return placeholder.ReplaceAllStringFunc(line, func(p string) string { return v.one(p[1 : len(p)-1]) })
}

func (v *values) pick(list ...string) string { return list[v.IntN(len(list))] }

func (v *values) hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(v.IntN(256))
	}
	return hex.EncodeToString(b)[:n]
}

func (v *values) random(n int) string {
	const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	b := make([]byte, n)
	for i := range b {
		b[i] = base58[v.IntN(len(base58))]
	}
	return string(b)
}

func (v *values) words(n int, sep string) string {
	var list []string
	for range n {
		list = append(list, v.one("word"))
	}
	return strings.Join(list, sep)
}

// one is a value of a kind.
func (v *values) one(kind string) string {
	switch kind {
	case "word":
		return v.pick("deploy", "billing", "index", "server", "worker", "customer", "report", "cache", "webhook", "session", "payment", "gateway", "frontend", "token", "account", "parser", "config", "release", "migration",
			"kubernetes", "scheduler", "password", "secret", "invoice", "telemetry", "build", "test", "lint", "storage", "queue", "retry", "import", "export", "backup", "monitor", "proxy", "search", "thumbnail", "locale")
	case "ident":
		return v.pick("UserService", "parseConfig", "HTTPClient", "getElementById", "XMLHttpRequest", "newBufferedReader", "TokenProvider", "OAuth2Client", "readUTF8", "MD5Sum", "base64Decode", "S3Bucket", "Vec3", "utf8Valid",
			"handleRequest", "AbstractFactory", "isRetryable", "toJSON", "IPv4Address", "sha256Hex", "PasswordEncoder", "SecretManager", "CookieJar", "i18nProvider", "k8sClient", "ECDSAKey", "x509Cert", "useEffect")
	case "file":
		return v.one("word") + v.pick("_"+v.one("word"), "", "-"+v.one("word"), strconv.Itoa(v.IntN(9))) + v.pick(".go", ".ts", ".py", ".rs", ".js", ".java", ".c", ".test.tsx", ".json", ".yaml", "_test.go", ".min.js", ".d.ts")
	case "path":
		return v.pick("/home/ann/src/", "/Users/ann/dev/", "/usr/lib/", "/opt/", "/var/lib/", "/tmp/"+v.one("word")+"-"+v.hex(8)+"/", "/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/", "/nix/store/"+strings.ToLower(v.random(32))+"-", "./",
			"/builds/group/", "src/", "node_modules/.pnpm/") + v.words(1+v.IntN(3), "/")
	case "hexfile":
		return v.one("word") + v.pick(".", "-") + v.hex(8)
	case "host":
		return v.pick("api.anthropic.com", "api.openai.com", "db.internal", "localhost", "api2.example.com", "ip-10-0-12-34.eu-west-1.compute.internal", "my-bucket-17.s3.us-east-1.amazonaws.com", v.one("word")+".example.org",
			"ec2-3-120-45-67.eu-central-1.compute.amazonaws.com", v.one("word")+"-"+v.hex(9)+".westeurope.azurecontainer.io")
	case "npmhost":
		return "npm.example.com"
	case "ip":
		return fmt.Sprintf("10.%d.%d.%d", v.IntN(256), v.IntN(256), v.IntN(256))
	case "port":
		return strconv.Itoa(1024 + v.IntN(60000))
	case "num":
		return strconv.Itoa(v.IntN(1_000_000))
	case "num11", "num12", "epoch":
		return strconv.Itoa(1_700_000_000 + v.IntN(99_999_999))
	case "small":
		return strconv.Itoa(1 + v.IntN(60))
	case "ver":
		return fmt.Sprintf("%d.%d.%d", v.IntN(30), v.IntN(20), v.IntN(40)) + v.pick("", "", "-beta.1", "-rc1", "+incompatible", "-20240102.abc1234")
	case "sha":
		return v.hex(40)
	case "short":
		return v.hex(7)
	case "short8":
		return v.hex(8)
	case "short9":
		return v.hex(9)
	case "short12", "hex12":
		return v.hex(12)
	case "hex":
		return v.hex(6)
	case "hex16":
		return v.hex(16)
	case "hex32":
		return v.hex(32)
	case "hex64":
		return v.hex(64)
	case "objdir":
		return v.hex(2) + "/" + v.hex(38)
	case "uuid":
		return v.hex(8) + "-" + v.hex(4) + "-7" + v.hex(3) + "-" + v.hex(4) + "-" + v.hex(12)
	case "ghreq":
		return strings.ToUpper(v.hex(4) + ":" + v.hex(5) + ":" + v.hex(6) + ":" + v.hex(7) + ":" + v.hex(8))
	case "cfray":
		return v.hex(16) + "-" + v.pick("FRA", "AMS", "IAD")
	case "anthreq":
		return "req_01" + v.random(22)
	case "msgid":
		return "msg_01" + v.random(22)
	case "toolu":
		return "toolu_01" + v.random(22)
	case "orgid":
		return v.random(24)
	case "k8s5":
		return v.hex(5)
	case "sum256":
		return base64.RawStdEncoding.EncodeToString([]byte(v.random(32)))
	case "fingerprint":
		return base64.RawStdEncoding.EncodeToString([]byte(v.random(32)))
	case "sum512":
		return base64.StdEncoding.EncodeToString([]byte(v.random(64)))
	case "gostamp":
		return "20260102150405"
	case "isots":
		return "2026-11-16T07_00_00_123Z"
	case "isots2":
		return "2026-11-16T07:00:00.123Z"
	case "repo":
		return v.pick("cli/cli", "belay-run/belay", "kubernetes/kubernetes", "ann/"+v.one("word")+"-"+v.one("word"))
	case "giturl":
		return v.pick("https://github.com/", "git@github.com:", "ssh://git@gitlab.example.com:2222/") + v.one("repo") + ".git"
	case "branch":
		return v.pick("main", "feature/"+v.words(3, "-"), "dependabot/npm_and_yarn/"+v.one("word")+"-"+v.one("ver"), "release-1."+v.one("small"))
	case "email":
		return v.pick("Ann <ann@example.com>", "ann.b.smith+ci@example.co.uk")
	case "pkg":
		return v.pick("react", "@babel/plugin-transform-react-jsx-development", "left-pad", "@types/node", "webpack-dev-server", "eslint-plugin-import", "@anthropic-ai/claude-code", "lodash.debounce", "es5-ext")
	case "gopkg":
		return v.pick("github.com/spf13/cobra", "golang.org/x/sys/unix", "github.com/belay-run/belay/internal/engine", "k8s.io/apimachinery/pkg/apis/meta/v1", "gopkg.in/yaml.v3")
	case "model":
		return v.pick("claude-sonnet-4-5-20250929", "claude-opus-4-1-20250805", "gpt-5.1-codex-max", "gemini-2.5-pro", "us.anthropic.claude-3-7-sonnet-20250219-v1:0")
	case "testname":
		return "Test" + v.one("ident") + "_" + v.pick("EmptyInput", "HTTP429IsRetried", "ParsesUTF8AndLatin1", "WithTimeout30s", "ReturnsErrorOnInvalidToken")
	case "envname":
		return v.pick("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN", "DATABASE_URL", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "NPM_TOKEN")
	case "sentence":
		return v.pick("the server is overloaded, try again later", "could not read the configuration", "connection closed before the response was complete", "the request was cancelled by the user", "no space left on device",
			"the file has changed on disk since it was read", "2 of 17 checks failed", "it took 12.5s, more than the 10s that are allowed", "unexpected end of input", "the token has expired", "a password is needed for this",
			"version 2.1.325 is newer than what was tested", "cannot be used together with --json", "the key already exists")
	}
	return "{" + kind + "}"
}
