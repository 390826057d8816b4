package custom

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Definition is what the user's file says of a CLI. Only Name, Commands and Headless are needed.
type Definition struct {
	Name string
	// Commands are the names of its command.
	Commands []string
	// Options are what its command line can hold. A command line with any other option is left alone.
	Options  agent.Table
	Headless Headless
	Prompt   Prompt
	Output   Output
	Session  Session
	Success  Success
	Service  Service
	StandIn  agent.StandIn
	// Events say what lines of JSON mean; the first that matches a line counts.
	Events []Event
	// Record is where below its home the CLI writes lines of JSON of a session: a pattern of files with {session} in it. Empty if it does not.
	Record string
	// Retry is a pattern of a line on stderr that tells of a retry inside the CLI. Its groups are named as fields of an event are.
	Retry string
	// Failed is a pattern of a line on stderr that says why the run has failed. Its groups are named as fields of an event are.
	Failed string
	// Status is a pattern whose first group is the HTTP status in the CLI's own words.
	Status string
	// Message is a pattern whose first group is what an error says, without what the CLI puts around it.
	Message string
	// Rules are asked about the CLI's own words before anything else.
	Rules []Rule
	// Stop is how it is stopped; empty means as other agents.
	Stop supervise.Ladder
	// Daemons are patterns of the command lines of what it leaves running on purpose.
	Daemons []string
	// Stall is how long it may show no event, ToolStall while a tool runs, if that is not the same; 0 means no limit.
	Stall, ToolStall time.Duration
	// HomeVar and HomeDir are where it keeps its things, see [agent.Descriptor].
	HomeVar, HomeDir string
	Install, Login   string
	Tested           agent.Tested
	// Client has the files with its MCP servers; nil if there are none.
	Client *clientfile.Client
	// Outcomes is a file or directory of saved outcomes.
	Outcomes string

	once  sync.Once
	table *table
}

// Headless says which command lines work on one request and end. Any other is treated as a command of which nothing is known.
type Headless struct {
	Always  bool
	Options []string // one of these is there
	Words   bool     // or a word
	Command []string // or this subcommand
	Except  []string // options, and first words, with which it is not headless in any case
}

// Prompt says how the CLI is given its prompt.
type Prompt struct {
	Option   string   // takes it as its value; empty if there is none
	Others   []string // options that give one in another way, such as a file; they make way for ours
	Words    bool     // the words of the command line are one
	Stdin    Stdin    // what the CLI does with stdin
	MaxStdin int64    // in bytes; 0 means no limit
	Commands string   // how prompts begin that the CLI takes for its own commands, such as /; empty if it has none
	Escape   string   // what keeps it from that, before the prompt; empty means a new line
}

// text makes sure that a prompt is taken for text.
func (p *Prompt) text(prompt string) string {
	if p.Commands != "" && strings.HasPrefix(prompt, p.Commands) {
		return cmp.Or(p.Escape, "\n") + prompt
	}
	return prompt
}

// Stdin says what a CLI does with its standard input.
type Stdin string

const (
	Unread Stdin = ""       // nothing
	Joined Stdin = "joined" // it is part of the prompt
	Alone  Stdin = "alone"  // it is the prompt if the command line has none
)

// Output says what the CLI prints.
type Output struct {
	// Events are the arguments that make it print lines of JSON: an option and, if it takes one, its value.
	Events []string
	// Text is the value of the same option for text; empty means "text".
	Text string
	// All says that it prints all that the model says where text is asked for, and not only the last answer.
	All bool
}

// Session says how sessions are resumed. In arguments {session} stands for the id.
type Session struct {
	Resume  []string // arguments that resume one; nil if that cannot be done
	New     []string // arguments that name a new one; nil if the CLI itself does
	Options []string // options that choose a session; they make way for ours
	ID      string   // the pattern of ids; empty for UUIDs
	Example string
	// Cumulative says that the usage in the CLI's result is that of the whole session, and not of the run.
	Cumulative bool
}

// Success says what a run has to show to be one.
type Success struct {
	Exit   []int // its exit code; nil means 0
	Answer *bool // an answer that is not empty, or the use of a tool; nil means: where there are events
}

// Service says whose limits a call falls under: variables with the address and the key, and the host where none is set.
type Service struct {
	Host                 string
	AddressVars, KeyVars []string
}

// Rule is a rule for verdicts. Where it names no stream, it looks at errors in events and at stderr: what a model has said is no
// evidence.
type Rule struct {
	verdict.Rule
	// Events says that it looks at errors in events only.
	Events bool
	// Status are the HTTP statuses that it applies to; nil means any, and none.
	Status []int
}

const (
	// sessionMark stands for the id of a session.
	sessionMark = "{session}"
	textForm    = "text"
)

// defaultStop is how agents are stopped.
var defaultStop = supervise.Ladder{{Signal: syscall.SIGINT, Wait: 4 * time.Second}, {Signal: syscall.SIGTERM, Wait: 3 * time.Second}}

// Descriptor is what everybody else may know of the CLI.
func (d *Definition) Descriptor() *agent.Descriptor {
	if len(d.Stop) == 0 {
		d.Stop = defaultStop
	}
	if d.Output.Text == "" {
		d.Output.Text = textForm
	}
	desc := &agent.Descriptor{
		Name:           d.Name,
		Commands:       d.Commands,
		New:            func(args, env []string, dir string) agent.Profile { return newProfile(d, args, env, dir) },
		Preset:         retry.Policy{MaxRetries: 3, BaseDelay: time.Second, MaxDelay: time.Minute, Jitter: retry.Full},
		Tested:         d.Tested,
		Ask:            d.ask(),
		StandIn:        d.StandIn,
		Client:         d.Client,
		MaxInput:       d.Prompt.MaxStdin,
		IsSession:      d.isSession,
		SessionExample: d.Session.Example,
		HomeVar:        d.HomeVar, HomeDir: d.HomeDir,
		Login: agent.Login{Command: d.Login, Variables: d.Service.KeyVars},
	}
	if d.Install != "" {
		desc.Install = []agent.Install{{Command: d.Install}}
	}
	return desc
}

// ask are the arguments before a prompt, with which the CLI works on it and ends.
func (d *Definition) ask() []string {
	h := &d.Headless
	args := append([]string{}, h.Command...)
	if len(h.Options) > 0 && len(h.Command) == 0 && !h.Words && !h.Always && !slices.Contains(h.Options, d.Prompt.Option) {
		args = append(args, h.Options[0])
	}
	if d.Prompt.Option != "" {
		args = append(args, d.Prompt.Option)
	}
	return args
}

// option is the first name of an option in the table, by which a command line that was read has it.
func (d *Definition) option(name string) string {
	for _, o := range d.Options {
		for _, n := range o.Names {
			if n == name {
				return o.Names[0]
			}
		}
	}
	return name
}

// maxID is longer than any id of a session.
const maxID = 200

// isSession reports whether an id has the form of the CLI's ids. What could be an option, or a path, has not.
func (d *Definition) isSession(id string) bool {
	if d.Session.ID == "" {
		return agent.IsUUID(id)
	}
	if id == "" || len(id) > maxID || id[0] == '-' || id[0] == '.' || strings.ContainsAny(id, "/\\") {
		return false
	}
	t := d.compiled()
	return t.session != nil && t.session.MatchString(id)
}

// table is a definition with its patterns compiled.
type table struct {
	rules   []row
	events  []event
	record  []event // of lines in the record
	retry   *regexp.Regexp
	failed  *regexp.Regexp
	status  *regexp.Regexp
	message *regexp.Regexp
	session *regexp.Regexp
	daemons []*regexp.Regexp
}

// row is a rule made ready.
type row struct {
	Rule
	only *verdict.Rules
}

// compiled compiles the patterns once. Those that are wrong match nothing; [Definition.Check] says which.
func (d *Definition) compiled() *table {
	d.once.Do(func() { d.table, _ = d.compile() })
	return d.table
}

// KeyError says which key of a definition is wrong.
type KeyError struct {
	Key string // below the table, as in event[2].when.type
	Err error
}

func (e *KeyError) Error() string { return e.Key + ": " + e.Err.Error() }
func (e *KeyError) Unwrap() error { return e.Err }

// Check compiles the patterns. The error is a [*KeyError].
func (d *Definition) Check() error {
	_, err := d.compile()
	if err == nil && d.Session.Example != "" && !d.isSession(d.Session.Example) {
		err = &KeyError{"session.example", fmt.Errorf("%q does not have the form that id says", d.Session.Example)}
	}
	return err
}

func (d *Definition) compile() (t *table, first error) {
	t = &table{}
	wrong := func(key string, err error) {
		if err != nil && first == nil {
			first = &KeyError{key, err}
		}
	}
	for _, list := range []struct {
		key   string
		n, of int
	}{{"options", len(d.Options), 1000}, {"daemons", len(d.Daemons), 20}, {"event", len(d.Events), 200}, {"rule", len(d.Rules), 500}} {
		if list.n > list.of {
			wrong(list.key, fmt.Errorf("has %d rows; a profile may have %d", list.n, list.of))
			return t, first
		}
	}
	var err error
	t.status, err = compileGroup("(?m)", d.Status, `it needs a group around the number, such as "HTTP (\\d{3})"`)
	wrong("status", err)
	t.message, err = compileGroup("(?s)", d.Message, `it needs a group around the words, such as "^Failed: (.*)"`)
	wrong("message", err)
	t.retry, err = compileFields(d.Retry, `it needs a group around the words, such as "^Retrying: (?<error>.*)"`)
	wrong("retry", err)
	t.failed, err = compileFields(d.Failed, `it needs a group around the words, such as "^Failed: (?<error>.*)"`)
	wrong("failed", err)
	if _, err := path.Match(d.Record, ""); err != nil || d.Record != "" && (!fs.ValidPath(d.Record) || !strings.Contains(d.Record, sessionMark)) {
		wrong("record", fmt.Errorf("%q is not a pattern of files below the home, such as \"sessions/*/{session}.jsonl\"", d.Record))
	}
	if d.Session.ID != "" {
		t.session, err = compilePattern("^(?:", d.Session.ID, ")$")
		wrong("session.id", err)
	}
	for _, pattern := range d.Daemons {
		re, err := compilePattern("", pattern, "")
		if err == nil && (re.MatchString("") || matchesAll(re)) {
			err = fmt.Errorf("the pattern %q matches every command line, so nothing that the CLI starts itself would be ended", pattern)
		}
		wrong("daemons", err)
		if err == nil {
			t.daemons = append(t.daemons, re)
		}
	}
	for i, r := range d.Rules {
		only, err := verdict.Compile(r.Rule)
		if err == nil && r.Match != "" {
			var match *regexp.Regexp
			match, err = compilePattern("(?im)", r.Match, "")
			if err == nil && len(r.Exit)+len(r.Signal)+len(r.Status) == 0 && matchesAll(match) {
				err = fmt.Errorf("the pattern %q matches every text, so this rule would judge everything", r.Match)
			}
		}
		wrong(fmt.Sprintf("rule[%d]", i+1), withoutPlace(err))
		if err == nil {
			t.rules = append(t.rules, row{r, only})
		}
	}
	for i := range d.Events {
		e, key, err := compileEvent(&d.Events[i])
		if err == nil && !e.Recorded && (e.Kind == Result || e.Kind == Failed) && len(e.when) == 1 && e.when[0].pattern != nil && matchesAll(e.when[0].pattern) {
			key, err = "when", errors.New("matches whatever stands there, so any line would be the end of the run")
		}
		wrong(strings.TrimSuffix(fmt.Sprintf("event[%d].%s", i+1, key), "."), err)
		switch {
		case err != nil:
		case e.Recorded:
			t.record = append(t.record, e)
		default:
			t.events = append(t.events, e)
		}
	}
	return t, first
}

// matchesAll reports whether a pattern matches texts that have nothing in common.
func matchesAll(re *regexp.Regexp) bool {
	return !slices.ContainsFunc([]string{"any text", "7", "%", "é"}, func(text string) bool { return !re.MatchString(text) })
}

// withoutPlace is the error of a table of one rule without the place of that rule in it.
func withoutPlace(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// compileGroup compiles a pattern whose first group is what is wanted; nil if there is none.
func compileGroup(before, pattern, missing string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, nil
	}
	re, err := compilePattern(before, pattern, "")
	if err == nil && re.NumSubexp() < 1 {
		return nil, errors.New(missing)
	}
	return re, err
}

// compileFields compiles a pattern whose groups are fields of an event, of which one is the error; nil if there is none.
func compileFields(pattern, missing string) (*regexp.Regexp, error) {
	re, err := compileGroup("(?m)", pattern, missing)
	if re != nil && re.SubexpIndex(string(FieldError)) < 0 {
		return nil, errors.New(missing)
	}
	return re, err
}

// compilePattern compiles a pattern between two pieces of ours. The error shows the pattern alone.
func compilePattern(before, pattern, after string) (*regexp.Regexp, error) {
	const longest = 4000
	if len(pattern) > longest {
		return nil, fmt.Errorf("the pattern has %d bytes; it may have %d", len(pattern), longest)
	}
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		if wrong, ok := errors.AsType[*syntax.Error](err); ok {
			return nil, fmt.Errorf("%s: %s", wrong.Code, wrong.Expr)
		}
		return nil, err
	}
	return regexp.Compile(before + pattern + after)
}
