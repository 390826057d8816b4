//go:build !unix

// Package fleettest starts a PostgreSQL for tests, on systems that have signals.
package fleettest
