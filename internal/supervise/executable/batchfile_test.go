package executable

import (
	"slices"
	"strings"
	"testing"
)

func TestBatchLine(t *testing.T) {
	for arg, want := range map[string]string{
		"":          `""`,
		"plain-1":   `plain-1`,
		"two words": `"two words"`,
		"a&calc":    `"a&calc"`,
		`say "hi"`:  `"say ""hi"""`,
		`c:\dir\`:   `"c:\dir\\"`,
		`a\"b`:      `"a\\""b"`,
		"%PATH%":    `"%%cd:~,%PATH%%cd:~,%"`,
		"!x!":       `"!x!"`,
		"ä":         `ä`,
	} {
		got, err := batchLine(`C:\a b\tool.cmd`, []string{arg, "x"})
		if whole := `cmd.exe /e:ON /v:OFF /d /c ""C:\a b\tool.cmd" ` + want + ` x"`; got != whole || err != nil {
			t.Errorf("%q: %s, %v; want %s", arg, got, err, whole)
		}
	}
	for path, arg := range map[string]string{`a.cmd`: "two\nlines", `b.cmd`: "\r", `"&calc.cmd`: "", `%x%.bat`: ""} {
		if got, err := batchLine(path, []string{arg}); err == nil {
			t.Errorf("%q %q: %s", path, arg, got)
		}
	}
}

const shimHead = "@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\nCALL :find_dp0\r\n"

// nodeShim is what npm makes for a script; the rest is the line that starts it.
func nodeShim(rest string) string {
	return shimHead + "\r\nIF EXIST \"%dp0%\\node.exe\" (\r\n  SET \"_prog=%dp0%\\node.exe\"\r\n) ELSE (\r\n  SET \"_prog=node\"\r\n  SET PATHEXT=%PATHEXT:;.JS;=;%\r\n)\r\n\r\n" +
		"endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & " + rest + "\r\n"
}

func TestParseNPMShim(t *testing.T) {
	for text, want := range map[string]npmShim{
		nodeShim(`"%_prog%"  "%dp0%\node_modules\@openai\codex\bin\codex.js" %*`): {"node", nil, `node_modules\@openai\codex\bin\codex.js`},
		nodeShim(`"%_prog%" --no-warnings "%dp0%\node_modules\x\cli.js" %*`):      {"node", []string{"--no-warnings"}, `node_modules\x\cli.js`},
		shimHead + "\"%dp0%\\node_modules\\x\\bin\\x.exe\"   %*\r\n":              {"", nil, `node_modules\x\bin\x.exe`},
	} {
		got, ok := parseNPMShim(text)
		if !ok || got.Interpreter != want.Interpreter || got.Target != want.Target || !slices.Equal(got.Options, want.Options) {
			t.Errorf("%s\n%+v, %v", text, got, ok)
		}
	}
	good := nodeShim(`"%_prog%"  "%dp0%\cli.js" %*`)
	for _, text := range []string{
		"", "@echo off\r\nstart calc\r\n",
		good + "calc\r\n",
		shimHead + "SET X=1\r\n\"%dp0%\\x.exe\" %*\r\n",
		strings.Replace(good, "CALL :find_dp0", "CALL :find_dp0\r\nSET NODE_ENV=production", 1),
		strings.Replace(good, `"_prog=node"`, `"_prog=deno"`, 1),
		nodeShim(`"%_prog%"  "%dp0%\cli.js" fixed %*`),
		nodeShim(`"%_prog%"  "%dp0%\cli.js" %* & calc`),
		nodeShim(`"%_prog%" %OPTIONS% "%dp0%\cli.js" %*`),
		nodeShim(`"%_prog%"  "%dp0%\%VERSION%\cli.js" %*`),
	} {
		if got, ok := parseNPMShim(text); ok {
			t.Errorf("%s\n%+v", text, got)
		}
	}
}
