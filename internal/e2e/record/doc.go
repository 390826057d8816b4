// Package record holds a test of what is on record after a mixed day of the real agent CLIs against a rehearsal, and nothing
// else: the figures of belay stats are compared with the rehearsal's own account.
package record
