package transcript

import (
	"errors"
	"io"
	"math"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/output"
	"github.com/belay-run/belay/internal/message"
)

// pump passes on what the caller asked for of what an agent prints: events as soon as the model has answered, everything else when the attempt is known
// to count. In a conversation, which has one attempt, everything is passed on as it comes.
type pump struct {
	newOutput func() *output.Output
	// read reads a line, and says what becomes of it; after says that it comes after the result.
	read func(agent.Line) (info agent.LineInfo, after bool)
	lost func() // is told that the output is not read any more

	form    agent.Form
	plain   bool      // there are no events in it
	direct  bool      // a conversation: the caller gets everything at once
	checked bool      // a result counts only if it passes a check
	live    io.Writer // nil if the caller wants only the answer

	lines    agent.Lines
	long     []*agent.LongLine // that the follower will read again
	held     *output.Output    // what the caller may yet see
	trailing *output.Output    // what something else has printed after the result
	errors   *sink             // the standard error
	shown    bool              // the caller has seen something
	flowing  bool              // the model has answered, or is not waited for: nothing is held any more but bad news
	broken   bool              // the output is not read any more
}

// open makes it ready for lines.
func (p *pump) open() {
	p.held, p.trailing = p.newOutput(), p.newOutput()
	if p.live == nil {
		p.held.Keep(math.MaxInt)
	}
	p.lines.Each, p.lines.Spool, p.lines.Lists = p.line, p.spool, p.plain
}

// spool is where a long line goes that begins there in the stream. What is plain is held in any case.
func (p *pump) spool(from int64) agent.Spool {
	if p.plain {
		return p.held.Since(from)
	}
	o := p.newOutput()
	o.Keep(math.MaxInt)
	return o
}

// take takes what the agent has printed.
func (p *pump) take(raw []byte) {
	switch {
	case p.direct:
		p.write(raw)
	case p.plain:
		p.hold(p.held, raw)
	}
	p.lines.Write(raw)
}

func (p *pump) line(line agent.Line) {
	info, after := p.read(line)
	passes := info.Show == agent.Pass && !(info.Delivered && p.checked)
	switch {
	case p.direct || p.plain || info.Show == agent.Drop: // take has seen to it, or it is not for the caller
	case p.form != agent.Stream || p.live == nil:
		if info.Foreign { // it stands before the answer, or after it
			to := p.held
			if after {
				to = p.trailing
			}
			p.keep(to, line)
		}
	case p.flowing && passes:
		p.flush(p.held)
		line.WriteTo(writerFunc(p.pass))
	default:
		p.keep(p.held, line)
		if info.Answered && passes {
			p.flowing = true
			p.flush(p.held)
		}
	}
	switch {
	case line.Long == nil:
	case line.Long.Kept():
		p.long = append(p.long, line.Long)
	default:
		line.Long.Close()
	}
}

// keep keeps a line that the caller may yet see.
func (p *pump) keep(to *output.Output, line agent.Line) {
	line.WriteTo(writerFunc(func(raw []byte) (int, error) { return p.hold(to, raw) }))
}

// hold keeps what the caller may yet see. If the disk is full it cannot be taken back any more, and is passed on.
func (p *pump) hold(to *output.Output, raw []byte) (int, error) {
	if n, err := to.Write(raw); err != nil {
		p.flush(to)
		p.write(raw[n:])
	}
	return len(raw), nil
}

// flush passes on what was held, which then is held no more.
func (p *pump) flush(held *output.Output) {
	if held.Size() > 0 && p.live != nil {
		p.show(held)
		held.Reset()
	}
}

// show passes on what was held.
func (p *pump) show(held *output.Output) {
	if held.Size() == 0 {
		return
	}
	p.shown = true
	if _, err := io.CopyBuffer(p.live, held.Reader(), make([]byte, 64<<10)); err != nil {
		p.lose()
	}
}

// pass is write in the form of an [io.Writer]'s.
func (p *pump) pass(raw []byte) (int, error) {
	p.write(raw)
	return len(raw), nil
}

func (p *pump) write(raw []byte) {
	if p.broken || p.live == nil || len(raw) == 0 {
		return
	}
	p.shown = true
	if _, err := p.live.Write(raw); err != nil {
		p.lose()
	}
}

// lose says that the output is not read any more. Some CLIs go on all the same, which costs money.
func (p *pump) lose() {
	p.broken = true
	p.lost()
}

// deliver passes on what the caller asked for, once the attempt is known to count. render writes what the CLI would have printed; nil if that is nothing.
func (p *pump) deliver(render func(io.Writer, agent.Form) error) error {
	return errors.Join(p.deliverAnswer(render), p.errors.deliver())
}

func (p *pump) deliverAnswer(render func(io.Writer, agent.Form) error) error {
	switch {
	case p.live == nil || p.broken || p.direct:
	case p.form == agent.Stream || p.plain:
		p.show(p.held)
	case render != nil:
		p.show(p.held)
		if err := render(writerFunc(p.render), p.form); err != nil {
			p.broken = true
		}
		p.show(p.trailing)
	}
	if p.broken {
		return io.ErrClosedPipe
	}
	return nil
}

// writerFunc is a function that is an [io.Writer].
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// render passes on what the CLI would have printed.
func (p *pump) render(raw []byte) (int, error) {
	p.shown = p.shown || len(raw) > 0
	return p.live.Write(raw)
}

// answer is the model's answer where it is all that was printed, or as the follower has it.
func (p *pump) answer(a agent.Answer) *output.Output {
	if a.IsPrinted() {
		return p.held.WithoutEnd()
	}
	answer := p.newOutput()
	answer.Keep(math.MaxInt)
	answer.FillLater(func(w io.Writer) { a.WriteTo(w) })
	return answer
}

func (p *pump) Discard() {
	p.held.Close()
	p.trailing.Close()
	for _, line := range p.long {
		line.Close()
	}
	p.live = nil
	p.errors.drop()
}

func (p *pump) Stderr() *output.Output { return p.errors.output() }

func (p *pump) Unread() bool { return p.broken }

func (p *pump) Incomplete() error { return p.held.Lost() }

func (p *pump) Final() string {
	if p.broken {
		return message.Unread()
	}
	return p.errors.final()
}

// Silent: there is nothing on stdout, and on stderr something else. Events say it without a word there.
func (p *pump) Silent(why string) bool {
	why = why[:min(len(why), 40)]
	return !p.shown && (why == "" || !strings.Contains(p.errors.excerpt().Text(), why))
}
