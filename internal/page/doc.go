// Package page serves belay ui: a page for one person, on loopback.
//
// That a client can reach the port does not make it trusted. A request must name this machine in Host, come from a page of this server if it comes from a
// page, and carry a session in its Authorization header. A session is had for a ticket, which is good once and for a minute; see access.go. There
// are no cookies, so that a browser adds nothing to a request that another page makes. Changes are made by POST only.
//
// What the page shows is data of package view. api.go has a row for each address, events.go and feed.go send what has changed to pages that are open, cache.go
// keeps answers for a moment that several pages ask for. The page itself is in assets. report.go and markdown.go make belay report of the same views.
package page
