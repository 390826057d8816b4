package rehearse

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/message"
)

// maxTimes bounds a repetition: a larger number is a typing error.
const maxTimes = 1_000_000

// perSession stands before the first step of a script that each session begins anew.
const perSession = "per-session:"

// Parse reads a script: steps with commas or new lines between them, each with options in parentheses and a
// repetition, as in
//
//	429(retry-after=2)x2, 200   # comments go to the end of the line
//
// docs/rehearsal.md lists the steps and their options. A mistake is a [*SyntaxError].
func Parse(text string) (*Script, error) {
	s := &scanner{text: text}
	script := &Script{}
	s.modes(script)
	for {
		s.blanks(true)
		if s.done() {
			break
		}
		if n := len(script.Steps); n > 0 && script.Steps[n-1].Times == 0 {
			return nil, s.error(fmt.Sprintf("%s answers every request, so nothing can follow it", script.Steps[n-1].Source))
		}
		begin := s.at
		step, err := s.step()
		if err != nil {
			return nil, err
		}
		if script.PerSession && step.Before == Refuse {
			return nil, s.errorAt(begin, "refuse applies to all sessions, because a refused connection does not say whose it is")
		}
		script.Steps = append(script.Steps, step)
		script.Strict = script.Strict || step.Poison != ""
		s.blanks(false)
		if !s.done() && !s.take(',') && !s.take(';') && !s.take('\n') {
			return nil, s.error(message.Expected(message.ACommaOrLine, s.next()))
		}
	}
	if len(script.Steps) == 0 {
		return nil, s.errorAt(0, "the script is empty. To answer every request: 200")
	}
	return script, nil
}

// modes reads what stands before the first step.
func (s *scanner) modes(script *Script) {
	for {
		s.blanks(true)
		switch rest := s.text[s.at:]; {
		case strings.HasPrefix(rest, perSession):
			s.at, script.PerSession = s.at+len(perSession), true
		case strings.HasPrefix(rest, strictly):
			s.at, script.Strict = s.at+len(strictly), true
		default:
			return
		}
	}
}

// step reads one step with its repetition.
func (s *scanner) step() (Step, error) {
	begin := s.at
	word := s.span(isWord)
	if word == "" {
		return Step{}, s.error(message.Expected(message.AStep, s.next()))
	}
	// 429x2, overloadedx2: the repetition sticks to the word.
	for i := range word {
		if word[i] == 'x' && isStep(word[:i]) {
			s.at, word = begin+i, word[:i]
			break
		}
	}
	step, err := s.newStep(word, begin)
	if err != nil {
		return Step{}, err
	}
	if s.peek() == '(' {
		if err := s.arguments(&step, word); err != nil {
			return Step{}, err
		}
	}
	step.Source = strings.Join(strings.Fields(s.text[begin:s.at]), " ")
	if err := s.check(&step, word, begin); err != nil {
		return Step{}, err
	}
	return step, s.repetition(&step, word)
}

// isStep reports whether a word is a status, or the name of a step.
func isStep(word string) bool {
	_, named := namedSteps[word]
	return named || len(word) == 3 && strings.Trim(word, "0123456789") == ""
}

// repetition reads x3 or x*. Without one a step answers one request.
func (s *scanner) repetition(step *Step, word string) error {
	back := s.at
	s.blanks(false)
	if s.peek() != 'x' {
		s.at = back
		return nil
	}
	begin := s.at
	s.at++
	switch {
	case !repeatable(step):
		return s.errorAt(begin, fmt.Sprintf("%s cannot be repeated because it is not for single requests", word))
	case s.take('*'):
		step.Times = 0
		return nil
	}
	digits := s.span(isDigit)
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > maxTimes {
		return s.errorAt(begin, fmt.Sprintf("a repetition is x and a number from 1 to %d, or x*", maxTimes))
	}
	step.Times = n
	return nil
}

// repeatable reports whether a step answers one request. Refused connections cannot be counted.
func repeatable(step *Step) bool { return step.Before != Refuse && step.Rate == nil && step.Mix == nil }

// arguments reads what is in the parentheses.
func (s *scanner) arguments(step *Step, word string) error {
	open := s.at
	s.at++
	first := true
	for {
		s.blanks(true)
		switch {
		case s.take(')'):
			return nil
		case s.done():
			return s.errorAt(open, message.NotClosed("parenthesis"))
		case first && word == "tool":
			if err := s.toolCall(step); err != nil {
				return err
			}
		default:
			if err := s.argument(step, word, first); err != nil {
				return err
			}
		}
		first = false
		s.blanks(true)
		if !s.take(',') && s.peek() != ')' && !s.done() {
			return s.error(message.Expected(message.ACommaOrParen, s.next()))
		}
	}
}

// argument reads name=value, or a value alone where the step has one. A name in quotes is a header's.
func (s *scanner) argument(step *Step, word string, first bool) error {
	begin := s.at
	name, isHeader := s.span(isWord), false
	if s.peek() == '"' && name == "" {
		quoted, err := s.quoted()
		name, isHeader = quoted, err == nil
	}
	s.blanks(true)
	if name != "" && s.take('=') {
		s.blanks(true)
		at := s.at
		value, err := s.value()
		switch {
		case err != nil:
			return err
		case !isHeader:
			return s.setOption(step, word, name, value, begin, at)
		case !takesAnswerOptions(word):
			return s.errorAt(begin, word+" sends no headers")
		}
		if err := setHeader(step, name, value); err != nil {
			return s.errorAt(begin, err.Error())
		}
		return nil
	}
	s.at = begin
	value, err := s.value()
	if err != nil {
		return err
	}
	set := positional[word]
	if n := len(step.Windows); n > 0 { // used=5h:42%,7d:17%
		set, first = setWindow(step.Windows[n-1].Fills), true
	}
	if set == nil || !first {
		return s.errorAt(begin, fmt.Sprintf("%s takes options as name=value, not %q", word, value))
	}
	if err := set(step, value); err != nil {
		return s.errorAt(begin, err.Error())
	}
	return nil
}

// value reads a quoted text, or what stands up to the next comma or parenthesis.
func (s *scanner) value() (string, error) {
	if c := s.peek(); c == '"' || c == '`' {
		return s.quoted()
	}
	begin := s.at
	v := strings.TrimSpace(s.span(func(b byte) bool { return b != ',' && b != ')' && b != '\n' && b != '(' }))
	if v == "" {
		return "", s.errorAt(begin, message.Expected(message.AValue, s.next()))
	}
	return v, nil
}

// toolCall reads `bash: sleep 3`: a tool's name and the rest, quoted or up to the first option or the parenthesis that closes the step.
func (s *scanner) toolCall(step *Step) error {
	begin := s.at
	step.Tool = s.span(isWord)
	s.blanks(true)
	if step.Tool == "" || !s.take(':') {
		return s.errorAt(begin, message.ToolForm())
	}
	s.blanks(true)
	if c := s.peek(); c == '"' || c == '`' {
		back := s.at
		text, err := s.quoted()
		if err != nil {
			return err
		}
		s.blanks(true)
		if c := s.peek(); c == ',' || c == ')' {
			step.ToolInput = text
			return nil
		}
		s.at = back // "$HOME"/bin/x: quotes of the command's own
	}
	at, depth, quote := s.at, 0, byte(0) // quotes of the command's own
	for !s.done() {
		switch c := s.text[s.at]; c {
		case '\\':
			if s.at+1 < len(s.text) && quote != '\'' && (quote != 0 || isQuote(s.text[s.at+1])) {
				s.at++
			}
		case '"', '\'', '`':
			if quote == 0 {
				quote = c
			} else if quote == c {
				quote = 0
			}
		case ',':
			if depth == 0 && quote == 0 && s.isToolOption(s.at+1) {
				step.ToolInput = strings.TrimSpace(s.text[at:s.at])
				return s.noInput(at, step)
			}
		case '(':
			depth++
		case ')':
			if depth == 0 {
				step.ToolInput = strings.TrimSpace(s.text[at:s.at])
				return s.noInput(at, step)
			}
			depth--
		}
		s.at++
	}
	return s.errorAt(begin-1, message.NotClosed("parenthesis"))
}

// noInput is the error of a tool call that has no input; nil if it has one.
func (s *scanner) noInput(at int, step *Step) error {
	if step.ToolInput == "" {
		return s.errorAt(at, "the tool has no input, as in tool(bash: ls)")
	}
	return nil
}

func isQuote(b byte) bool { return b == '"' || b == '\'' || b == '`' }

// isToolOption reports whether a tool's options begin at a comma of its command: blanks, and a name that is an option's, or that is near to one, before an equals
// sign. Anything else, as in `sort -k 1,2` and `a=1, b=2`, is part of the command.
func (s *scanner) isToolOption(at int) bool {
	ahead := scanner{text: s.text, at: at}
	if ahead.blanks(true); ahead.at == at {
		return false
	}
	name := ahead.span(isWord)
	ahead.blanks(true)
	return ahead.peek() == '=' && (option("tool", name) != nil || nearOption("tool", name) != "")
}

// newStep is the step of a word, without options.
func (s *scanner) newStep(word string, at int) (Step, error) {
	step := Step{Times: 1, Usage: Usage{-1, -1, -1, -1}}
	if len(word) == 3 && strings.Trim(word, "0123456789") == "" {
		step.Status, _ = strconv.Atoi(word)
		if step.Status < 200 || step.Status > 599 {
			return step, s.errorAt(at, word+" is not a status from 200 to 599")
		}
		return step, nil
	}
	begin, known := namedSteps[word]
	if !known {
		return step, s.errorAt(at, noStep(word))
	}
	begin(&step)
	return step, nil
}

// noStep names the step that was probably meant, else all of them.
func noStep(word string) string {
	names := slices.Sorted(maps.Keys(namedSteps))
	for _, name := range names {
		if strings.HasPrefix(name, word) || strings.HasPrefix(word, name) {
			return message.NoStep(word, name, nil)
		}
	}
	if near := message.Nearest(word, names); near != "" {
		return message.NoStep(word, near, nil)
	}
	return message.NoStep(word, "", names)
}
