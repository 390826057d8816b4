package batch

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/setup"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// recipe says what a task runs, and makes the runner for it.
type recipe struct {
	given    config.Given
	options  *batchOptions
	user     config.UserSettings
	settings *config.Settings // those of the command, for what is about the whole batch
	template *batch.Template
	env      []string // of every task

	state *state.State    // prepared for all tasks; nil if each has to see for itself
	rows  *supervise.Rows // of plain commands

	mu     sync.Mutex
	loaded map[string]*loadedProfile
	plain  map[string]*engine.Runner // of commands that nothing is known of and that say nothing of their own, by their names

	looked bool // at the command of a task that says nothing but what it asks
}

// loadedProfile are the settings for one profile.
type loadedProfile struct {
	settings *config.Settings
	rules    []verdict.Rule
}

// newRecipe reads the settings of the user and those of the command.
func newRecipe(given config.Given, o *batchOptions, command []string) (*recipe, error) {
	user, err := config.ReadUser()
	if err != nil {
		return nil, err
	}
	r := &recipe{given: given, options: o, user: user, template: batch.ParseTemplate(command), env: os.Environ(), loaded: map[string]*loadedProfile{}, plain: map[string]*engine.Runner{}}
	name := given["profile"]
	if d := commandProfile(command); name == "" && d != nil {
		name = d.Name
	}
	l, err := r.load(name)
	if err != nil {
		return nil, err
	}
	r.settings = l.settings
	return r, nil
}

// commandProfile is what is known of a command by its name; nil if nothing is.
func commandProfile(args []string) *agent.Descriptor {
	if len(args) == 0 {
		return nil
	}
	return profile.OfCommand(args[0])
}

// load returns the settings for a profile.
func (r *recipe) load(name string) (*loadedProfile, error) {
	name = cmp.Or(name, generic.Name)
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.loaded[name]; l != nil {
		return l, nil
	}
	s, rules, err := r.user.Load(r.given, name)
	if err != nil {
		return nil, err
	}
	l := &loadedProfile{s, rules}
	r.loaded[name] = l
	return l, nil
}

// fingerprint is that of the command that all tasks have, and of the model that it names; 0 if tasks bring their own commands.
func (r *recipe) fingerprint(argv []string) batch.Hash {
	if len(argv) == 0 {
		return 0
	}
	of := batch.Task{Args: argv, Profile: r.given["profile"]}
	c := taskCommand{args: argv, dir: r.given["cwd"], env: r.env}
	if r.bind(&batch.Task{}, &c) == nil {
		if a, ok := c.known.(agent.Agent); ok && a.Info().Model != nil {
			of.Model = a.Info().Model()
		}
	}
	return of.Hash()
}

// taskCommand is what a task runs.
type taskCommand struct {
	args   []string
	dir    string
	env    []string
	known  agent.Profile // nil if nothing is known of it
	prompt *string       // what it is given beside its arguments
}

// command is what a task runs. The error says why it cannot be run.
func (r *recipe) command(t *batch.Task) (c taskCommand, err error) {
	if c.args, err = r.template.Fill(t); err != nil {
		return c, err
	}
	c.dir, c.env = cmp.Or(t.Cwd, r.given["cwd"]), r.env
	if len(t.Env) > 0 {
		c.env = slices.Clone(c.env)
		for name, value := range t.Env {
			c.env = append(c.env, name+"="+value)
		}
	}
	if len(c.args) == 0 && t.Profile != "" {
		c.args = []string{t.Profile}
	}
	if len(c.args) == 0 {
		return c, errors.New("the task has no command; add one after --, or give the task args or a profile")
	}
	if err := r.bind(t, &c); err != nil {
		return c, err
	}
	_, isAgent := c.known.(agent.Agent)
	switch {
	case r.template.Prompt:
	case isAgent && t.Prompt == "":
		if !c.known.(agent.Agent).Info().HasPrompt {
			return c, fmt.Errorf("the task has no prompt for %s", c.known.Name())
		}
	case isAgent, t.Prompt != "" && !r.template.Fills():
		c.prompt = &t.Prompt
	}
	return c, nil
}

// bind finds out what is known of the command of a task. An agent without its headless option is given that option, since no person is there to
// answer it.
func (r *recipe) bind(t *batch.Task, c *taskCommand) error {
	named := cmp.Or(t.Profile, r.given["profile"])
	make := func() (p agent.Profile, err error) {
		if named != "" {
			return profile.Bind(named, c.args, c.env, c.dir)
		}
		return profile.Of(c.args, c.env, c.dir), nil
	}
	p, err := make()
	if err != nil {
		return err
	}
	if a, ok := p.(agent.Agent); ok && !a.Headless() {
		if d := profile.Find(p.Name()); d != nil && d.IsAgent() {
			c.args = slices.Concat(c.args[:1], d.Ask, c.args[1:])
			if p, err = make(); err != nil {
				return err
			}
		}
	}
	if t.Model != "" && !r.template.Uses("model") {
		a, ok := p.(agent.Agent)
		if !ok || !p.Headless() || a.Info().WithModel == nil {
			return fmt.Errorf("model cannot be set for %s", c.args[0])
		}
		c.args = a.Info().WithModel(t.Model)
		if p, err = make(); err != nil {
			return err
		}
	}
	if p != nil && p.Headless() {
		c.known = p
	}
	return nil
}

// check finds what is wrong with a task before anything starts. Tasks that differ only in what they ask are alike.
func (r *recipe) check(t *batch.Task) error {
	if err := r.template.CheckTask(t); err != nil {
		return err
	}
	if !knownFiles(t.Files) {
		return message.Error(message.FilesUnknown("files", t.Files))
	}
	if t.Name != "" || len(t.Tags) > 0 {
		if err := (label.Labels{Name: t.Name, Tags: t.Tags}).Check(); err != nil {
			return err
		}
	}
	alike := len(r.own(t)) == 0 && t.Args == nil && t.Profile == "" && t.Model == "" && t.Prompt != "" && t.Cwd == ""
	if alike && r.looked {
		return nil
	}
	c, err := r.command(t)
	if err != nil {
		return err
	}
	r.looked = r.looked || alike
	if !r.options.fleet { // else it is for other machines to find
		if _, err := supervise.Look(c.args[0], c.dir); err != nil {
			return err
		}
	}
	l, err := r.load(setup.NameOf(c.known))
	if err != nil {
		return err
	}
	runner, err := r.newRunner(l, t, &c)
	if err == nil {
		err = runner.CheckWorktree(c.dir)
	}
	return err
}

// own are the settings that a task has of its own, by their names. What is a command for the shell counts only with --task-checks, and what is about trees
// only where the command itself has --worktree, and does not use it otherwise.
func (r *recipe) own(t *batch.Task) map[string]string {
	own := map[string]string{}
	for _, name := range []string{"check", "worktree", "worktree-dir", "worktree-setup", "land"} {
		key, check := config.Find(name).Key(), name == "check"
		shell := check || name == "worktree-setup"
		if (!shell || r.options.taskChecks) && (check || r.given["worktree"] != "" && !r.template.Uses(key)) && t.Fields[key] != "" {
			own[name] = t.Fields[key]
		}
	}
	return own
}

// newRunner makes the runner for a task.
func (r *recipe) newRunner(l *loadedProfile, t *batch.Task, c *taskCommand) (*engine.Runner, error) {
	s := *l.settings
	s.Resume, s.ResumeOrNew, s.ResumeInterrupted = "", "", ""
	for name, value := range r.own(t) {
		if err := s.Set(name, value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	runner, err := setup.Runner(&s, l.rules, c.known)
	if err == nil {
		_, err = setup.Worktree(&s, runner, c.dir)
	}
	if err != nil {
		return nil, err
	}
	if len(s.Fallbacks) > 0 && c.known != nil {
		if runner.Fallbacks, err = setup.Fallbacks(&s, r.given, c.known); err != nil {
			return nil, err
		}
		runner.FallbackAfterWork = s.FallbackAfterWork
	}
	if c.known == nil && r.given["profile"] != generic.Name { // else the user says that nothing is known of it
		runner.Profile = setup.Guard(runner.Profile, profile.Of(c.args, nil, c.dir))
	}
	if r.waits(&s) {
		runner.Policy.MaxWait = retry.None
	}
	runner.Gate.Settings.MaxHold = batch.LongestHold
	runner.Alert = s.Alerts.For(setup.NameOf(c.known), journal.Integration(setup.NameOf(c.known), filepath.Base(c.args[0])))
	if r.state != nil {
		prepared := *r.state
		prepared.Prices = s.Prices
		if c.known == nil && t.MaxCost == 0 && runner.MaxCost == 0 && len(runner.Budgets) == 0 && runner.Scope == "" { // others look at the records of the rest
			prepared.Rows = r.rows
		}
		runner.State = &prepared
	}
	if t.Timeout > 0 {
		runner.Policy.Timeout = t.Timeout
	}
	runner.Labels = label.Labels{Name: t.Name, Tags: t.Tags}.Over(runner.Labels)
	return runner, nil
}

// waits reports whether a task waits for limits as long as they last: nothing was said of that.
func (r *recipe) waits(s *config.Settings) bool {
	return !s.Chosen("max-wait") && !s.Chosen("no-wait") && !s.Chosen("max-retries") && !s.Chosen("preset")
}

// commandRunner is a runner for the command of a task. What it takes to make one is found once for plain commands that say nothing of their own.
func (r *recipe) commandRunner(t *batch.Task, c *taskCommand) (*engine.Runner, error) {
	shared := c.known == nil && len(r.own(t)) == 0 && t.Timeout == 0 && t.Name == "" && len(t.Tags) == 0 && commandProfile(c.args) == nil
	if shared {
		r.mu.Lock()
		plain := r.plain[c.args[0]]
		r.mu.Unlock()
		if plain != nil {
			return new(*plain), nil
		}
	}
	l, err := r.load(setup.NameOf(c.known))
	if err != nil {
		return nil, err
	}
	runner, err := r.newRunner(l, t, c)
	if err == nil && shared {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.plain) > 1000 { // a command for each task, say
			clear(r.plain)
		}
		r.plain[c.args[0]] = new(*runner)
	}
	return runner, err
}
