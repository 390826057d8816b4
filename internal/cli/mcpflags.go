package cli

// textFlag is a flag whose help names what it takes.
type textFlag struct {
	to   *string
	kind string
}

func (f *textFlag) String() string     { return "" }
func (f *textFlag) Type() string       { return f.kind }
func (f *textFlag) Set(v string) error { *f.to = v; return nil }

// listFlag is one that may be repeated.
type listFlag struct {
	to   *[]string
	kind string
}

func (f *listFlag) String() string     { return "" }
func (f *listFlag) Type() string       { return f.kind }
func (f *listFlag) Set(v string) error { *f.to = append(*f.to, v); return nil }
