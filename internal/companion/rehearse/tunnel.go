package rehearse

import (
	"io"
	"net"
	"net/http"
)

// tunnel lets a client reach the stand-ins through themselves: one that knows of a proxy, which is there for gh, and asks it
// for any address asks it for theirs too. Nothing else is reached. It returns false if the request asks for something else.
func (a *API) tunnel(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodConnect || r.Host != a.addr {
		return false
	}
	back, err := net.Dial("tcp", a.addr)
	if err != nil { // connections are refused for now
		w.WriteHeader(http.StatusBadGateway)
		return true
	}
	defer back.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return true
	}
	defer client.Close()
	io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	ended := make(chan struct{}, 2)
	for _, way := range []struct {
		to   io.Writer
		from io.Reader
	}{{back, buffered}, {client, back}} {
		go func() {
			io.Copy(way.to, way.from)
			ended <- struct{}{}
		}()
	}
	select {
	case <-ended:
	case <-a.ctx.Done():
	}
	return true
}
