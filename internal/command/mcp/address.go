package mcp

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/mcp/host"
	"github.com/belay-run/belay/internal/message"
)

// mcpAddress are the flags of belay mcp for a server over a network.
type mcpAddress struct {
	url, transport, bearer string
	headers                []string
}

// address reads them. Only the form is looked at here: belayd has what a URL takes.
func (f *mcpAddress) address() (a host.Address, err error) {
	a = host.Address{URL: f.url, Transport: f.transport, Bearer: f.bearer}
	_, user, ok := a.Authority()
	switch {
	case !ok:
		return a, command.Usage(message.Error(message.NotAServerURL()), message.AsIn("belay mcp --url https://example.com/mcp"))
	case user != "":
		return a, command.Usage(message.Error("--url has a password in it, which everyone on this machine can read. Put it into a variable and use --header-env"), message.AsIn("--header-env Authorization=MY_VARIABLE"))
	case f.transport != "" && f.transport != "http" && f.transport != "sse":
		return a, command.Usage(message.Error(fmt.Sprintf("%q is not a transport: http or sse", f.transport)), "")
	case strings.ContainsAny(f.bearer, "= "):
		return a, command.Usage(message.Error(message.NotAHeaderVariable(f.bearer)), message.AsIn("--bearer-env GITHUB_TOKEN"))
	}
	for _, text := range f.headers {
		name, variable, ok := strings.Cut(text, "=")
		if !ok || !isHeaderName(name) || variable == "" || strings.ContainsAny(variable, "= ") {
			return a, command.Usage(message.Error(message.NotAHeaderVariable(text)), message.AsIn("--header-env X-API-Key=MY_VARIABLE"))
		}
		a.Headers = append(a.Headers, [2]string{name, variable})
	}
	return a, nil
}

// isHeaderName says whether a text can be the name of a header.
func isHeaderName(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", r)
	})
}

// given names a flag that is for servers over a network only.
func (f *mcpAddress) given() string {
	switch {
	case f.transport != "":
		return "transport"
	case f.bearer != "":
		return "bearer-env"
	case len(f.headers) > 0:
		return "header-env"
	}
	return ""
}
