package command

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/internal/config"
)

// settingFlag is a flag for one row of the settings table. It keeps the text; the table reads it.
type settingFlag struct {
	setting *config.Setting
	given   config.Given
}

func (f *settingFlag) String() string { return "" }

func (f *settingFlag) Set(v string) error {
	f.given.Add(f.setting, v)
	return f.setting.Check(v)
}

func (f *settingFlag) Type() string {
	if f.setting.Arg == "" {
		return "bool"
	}
	return f.setting.Arg
}

// AddSettings adds a flag for each setting that want selects.
func AddSettings(cmd *cobra.Command, want func(*config.Setting) bool) config.Given {
	given := config.Given{}
	flags := cmd.Flags()
	flags.SortFlags = false
	for i := range config.Table {
		s := &config.Table[i]
		if !want(s) {
			continue
		}
		f := &pflag.Flag{Name: s.Name, Usage: s.Usage(), Value: &settingFlag{s, given},
			Annotations: map[string][]string{GroupKey: {s.Group}}}
		if s.Bare() {
			f.NoOptDefVal = "true"
		}
		flags.AddFlag(f)
	}
	return given
}
