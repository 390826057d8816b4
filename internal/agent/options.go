package agent

import "strings"

// Takes says what an option takes.
type Takes uint8

const (
	Nothing  Takes = iota
	One            // one value, as --model x or --model=x
	Optional       // a value if the next argument does not begin with -
	Many           // every argument up to the next that begins with -
)

// Option is one row of a CLI's option table.
type Option struct {
	Names []string // "-p", "--print"
	Takes Takes
	// Means is what it says, if its value is Only or Only is empty: see [Request].
	Means Meaning
	Only  string
}

// meaning is what the option says with that value.
func (o *Option) meaning(value string) Meaning {
	if o.Only != "" && o.Only != value {
		return OwnMeaning
	}
	return o.Means
}

// Table is what a CLI's command line can hold.
type Table []Option

// Options are options that mean the same to other CLIs, each written as [ParseOption] reads it.
func Options(means Meaning, lines ...string) (t Table) {
	for _, line := range lines {
		o, ok := ParseOption(line)
		if !ok {
			panic("not an option: " + line)
		}
		o.Means = means
		t = append(t, o)
	}
	return t
}

// ParseOption reads an option as the help of a CLI shows it: "-r, --resume [ID]". What it takes is a word of any name: VALUE,
// [VALUE] if it may be missing, VALUE... if there may be several.
func ParseOption(line string) (o Option, ok bool) {
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' || r == '=' })
	for i, w := range words {
		switch {
		case strings.HasPrefix(w, "-") && len(strings.Trim(w, "-")) > 0:
			o.Names = append(o.Names, w)
			continue
		case i == 0 || i < len(words)-1:
			return o, false
		case strings.HasSuffix(strings.TrimRight(w, "]>"), "..."), strings.HasSuffix(w, "..."), strings.HasSuffix(w, "…"):
			o.Takes = Many
		case strings.HasPrefix(w, "["):
			o.Takes = Optional
		default:
			o.Takes = One
		}
	}
	return o, len(o.Names) > 0
}

// Arg is one item of a command line: an option with its values, or a word that stands by itself.
type Arg struct {
	Name   string   // the option's first name in the table; empty for a word
	Values []string // of the option, or the word
	From   int      // where it begins in the arguments
	To     int      // where it ends: the argument after it
}

// CommandLine is a command line taken apart.
type CommandLine struct {
	Args []string
	Read []Arg
	// Dashes is where a -- stands; -1 if there is none.
	Dashes int
	// Unknown is the first option that the table does not know; what follows it has not been read.
	Unknown string
}

// Read takes arguments apart, which do not include the command itself.
func (t Table) Read(args []string) CommandLine {
	line := CommandLine{Args: args, Dashes: -1}
	for i := 0; i < len(args); {
		a := args[i]
		switch {
		case a == "--":
			line.Dashes = i
			for j := i + 1; j < len(args); j++ {
				line.Read = append(line.Read, Arg{Values: args[j : j+1], From: j, To: j + 1})
			}
			return line
		case a == "-" || !strings.HasPrefix(a, "-"):
			line.Read = append(line.Read, Arg{Values: args[i : i+1], From: i, To: i + 1})
			i++
			continue
		}
		read, ok := t.option(args, i)
		if !ok {
			line.Unknown = a
			return line
		}
		line.Read = append(line.Read, read)
		i = read.To
	}
	return line
}

// option reads the option at args[i].
func (t Table) option(args []string, i int) (Arg, bool) {
	name, value, joined := strings.Cut(args[i], "=")
	o, ok := t.find(name)
	if !ok && !strings.HasPrefix(name, "--") && len(name) > 2 {
		// -pvalue, as far as it can be told
		if o, ok = t.find(name[:2]); ok && o.Takes != Nothing {
			return Arg{Name: o.Names[0], Values: []string{args[i][2:]}, From: i, To: i + 1}, true
		}
		return Arg{}, false
	}
	if !ok || joined && o.Takes == Nothing {
		return Arg{}, false
	}
	read := Arg{Name: o.Names[0], From: i, To: i + 1}
	if joined {
		read.Values = []string{value}
		return read, true
	}
	most := 0
	switch o.Takes {
	case One:
		if i+1 >= len(args) {
			return Arg{}, false
		}
		read.Values, read.To = args[i+1:i+2], i+2
		return read, true
	case Optional:
		most = 1
	case Many:
		most = len(args)
	}
	for len(read.Values) < most && read.To < len(args) && (args[read.To] == "-" || !strings.HasPrefix(args[read.To], "-")) {
		read.To++
		read.Values = args[i+1 : read.To]
	}
	return read, true
}

func (t Table) find(name string) (Option, bool) {
	for _, o := range t {
		for _, n := range o.Names {
			if n == name {
				return o, true
			}
		}
	}
	return Option{}, false
}

// Has reports whether the option is there.
func (l *CommandLine) Has(name string) bool { return l.Last(name) != nil }

// Last is the last of that option, which is the one that counts; nil if there is none.
func (l *CommandLine) Last(name string) *Arg {
	for i := len(l.Read) - 1; i >= 0; i-- {
		if l.Read[i].Name == name {
			return &l.Read[i]
		}
	}
	return nil
}

// Value is the value of the last of that option; empty if there is none.
func (l *CommandLine) Value(name string) string {
	if a := l.Last(name); a != nil && len(a.Values) > 0 {
		return a.Values[0]
	}
	return ""
}

// Words are the arguments that stand by themselves.
func (l *CommandLine) Words() (words []Arg) {
	for _, a := range l.Read {
		if a.Name == "" {
			words = append(words, a)
		}
	}
	return words
}

// Without returns the arguments without some of what was read.
func (l *CommandLine) Without(drop func(Arg) bool) []string {
	kept := make([]string, 0, len(l.Args))
	at := 0
	for _, a := range l.Read {
		if drop(a) {
			kept = append(kept, l.Args[at:a.From]...)
			at = a.To
		}
	}
	return append(kept, l.Args[at:]...)
}
