// Command man writes belay's man pages: one for each command, and one for each topic of belay help.
package main

import (
	"cmp"
	"flag"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/internal/command/belay"
	"github.com/belay-run/belay/internal/command/help"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/version"
)

func main() {
	out := flag.String("o", "dist/man", "where they go")
	flag.Parse()
	if err := os.MkdirAll(*out, 0o755); err != nil {
		log.Fatal(err)
	}
	for name, page := range pages() {
		if err := os.WriteFile(filepath.Join(*out, name+".1"), []byte(page), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	// People look for a page of every command in bin.
	if err := os.WriteFile(filepath.Join(*out, "belayd.1"), []byte(".so man1/belay.1\n"), 0o644); err != nil {
		log.Fatal(err)
	}
}

// pages are all man pages, by name.
func pages() map[string]string {
	list := map[string]string{}
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		if cmd.IsAvailableCommand() || !cmd.HasParent() {
			list[pageName(cmd)] = commandPage(cmd)
			for _, c := range cmd.Commands() {
				each(c)
			}
		}
	}
	root := belay.New()
	each(root)
	for _, t := range help.Topics() {
		name := "belay-" + t.Name
		p := newPage(name, t.Short)
		p.section("DESCRIPTION")
		p.text(t.Text)
		p.seeAlso([]string{"belay"})
		list[name] = p.String()
	}
	return list
}

// pageName is the name of a command's page: belay-gates-reset.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func commandPage(cmd *cobra.Command) string {
	p := newPage(pageName(cmd), cmd.Short)
	p.section("SYNOPSIS")
	path := cmd.CommandPath()
	p.line(`\fB` + escape(path) + `\fR` + escape(strings.TrimPrefix(cmd.UseLine(), path)))
	p.section("DESCRIPTION")
	p.text(cmp.Or(cmd.Long, cmd.Short+"."))
	var related []string
	if cmd.HasAvailableSubCommands() {
		p.section("COMMANDS")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				p.entry(`\fB`+escape(c.Name())+`\fR`, c.Short)
				related = append(related, pageName(c))
			}
		}
	}
	p.options(cmd)
	if cmd.Example != "" {
		p.section("EXAMPLES")
		p.text(cmd.Example)
	}
	if cmd.HasParent() {
		related = append([]string{pageName(cmd.Parent())}, related...)
	} else {
		for _, t := range help.Topics() {
			related = append(related, "belay-"+t.Name)
		}
	}
	p.seeAlso(related)
	return p.String()
}

// page is a man page in the making.
type page struct{ strings.Builder }

func newPage(name, short string) *page {
	p := &page{}
	p.line(`.TH "` + escape(strings.ToUpper(name)) + `" "1" "` + date().Format(time.DateOnly) + `" "belay ` + escape(version.String()) + `" "Belay Manual"`)
	p.section("NAME")
	p.line(escape(name) + ` \- ` + escape(short))
	return p
}

// date is the date of the pages: that of the release, where SOURCE_DATE_EPOCH says it.
func date() time.Time {
	if seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		return time.Unix(seconds, 0).UTC()
	}
	return time.Now()
}

func (p *page) line(text string) { p.WriteString(text + "\n") }

func (p *page) section(title string) { p.line(".SH " + title) }

// entry is a word, already in roff, and what it means.
func (p *page) entry(word, text string) {
	p.line(".TP\n" + word)
	p.line(lineSafe(escape(text)))
}

// text writes paragraphs. Indented lines are shown as they are.
func (p *page) text(text string) {
	verbatim, begun := false, true // a section begins with a paragraph by itself
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		indented := strings.HasPrefix(line, "  ")
		switch {
		case line == "":
			begun = begun && verbatim // a new paragraph, or a gap in what is shown as it is
			continue
		case indented && !verbatim:
			if !begun {
				p.line(".PP")
			}
			p.line(".RS 4\n.nf")
			verbatim = true
		case !indented && verbatim:
			p.line(".fi\n.RE")
			verbatim, begun = false, false
		}
		if !indented && !begun {
			p.line(".PP")
			begun = true
		}
		p.line(lineSafe(escape(strings.TrimPrefix(line, "  "))))
	}
	if verbatim {
		p.line(".fi\n.RE")
	}
}

// options lists the flags as the help does, under its headings.
func (p *page) options(cmd *cobra.Command) {
	groups := map[string][]*pflag.Flag{}
	var order []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		group := strings.Join(f.Annotations["group"], "")
		if groups[group] == nil {
			order = append(order, group)
		}
		groups[group] = append(groups[group], f)
	})
	slices.SortStableFunc(order, func(a, b string) int { return place(a) - place(b) })
	p.section("OPTIONS")
	for _, group := range order {
		if len(order) > 1 {
			p.line(`.SS "` + escape(cmp.Or(group, "Other flags")) + `"`)
		}
		for _, f := range groups[group] {
			p.entry(flagName(f), f.Usage)
		}
	}
}

// place is where a group of flags stands: those of settings in their order, then the rest.
func place(group string) int {
	if i := slices.Index(config.Groups, group); i >= 0 {
		return i
	}
	return len(config.Groups)
}

// flagName is a flag with what it takes.
func flagName(f *pflag.Flag) string {
	name := `\fB\-\-` + escape(f.Name) + `\fR`
	switch f.Shorthand {
	case "":
	case f.Name:
		name = `\fB\-` + escape(f.Name) + `\fR`
	default:
		name = `\fB\-` + escape(f.Shorthand) + `\fR, ` + name
	}
	if kind := f.Value.Type(); kind != "bool" {
		name += ` \fI` + escape(kind) + `\fR`
	}
	return name
}

func (p *page) seeAlso(names []string) {
	p.section("SEE ALSO")
	for i, name := range names {
		comma := ","
		if i == len(names)-1 {
			comma = ""
		}
		p.line(".BR " + escape(name) + " (1)" + comma)
	}
}

// escape makes a text safe for roff: what it would read as a command or turn into another character, and what is not ASCII.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '"':
			b.WriteString(`\(dq`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r > 126:
			b.WriteString(`\[u` + strings.ToUpper(leftPad(strconv.FormatInt(int64(r), 16))) + `]`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func leftPad(hex string) string { return strings.Repeat("0", max(0, 4-len(hex))) + hex }

// lineSafe keeps the beginning of a line from being read as a command.
func lineSafe(text string) string {
	if strings.HasPrefix(text, ".") {
		return `\&` + text
	}
	return text
}
