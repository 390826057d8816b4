package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pelletier/go-toml/v2"

	"github.com/belay-run/belay/internal/dotfile"
)

// InTOML is how many hook commands stand in the config.toml beside codex's hooks.json. Both work for codex; only the JSON
// file can be edited here without touching anything else in it.
func InTOML(path string) (config string, n int, err error) {
	config = filepath.Join(filepath.Dir(path), "config.toml")
	data, err := dotfile.Read("", config)
	if errors.Is(err, os.ErrNotExist) {
		return config, 0, nil
	}
	if err != nil {
		return config, 0, err
	}
	var file struct {
		Hooks map[string]any `toml:"hooks"`
	}
	if err := toml.Unmarshal(data, &file); err != nil {
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column := at.Position()
			return config, 0, fmt.Errorf("%s: line %d, column %d: %w", config, line, column, err)
		}
		return config, 0, fmt.Errorf("%s: %w", config, err)
	}
	for _, groups := range file.Hooks {
		list, _ := groups.([]any)
		for _, group := range list {
			table, _ := group.(map[string]any)
			hooks, _ := table["hooks"].([]any)
			n += len(hooks)
		}
	}
	return config, n, nil
}
