// Package upgrade holds tests of what an older version of Belay has left: a home that the executables of 52c78ef have
// written, which is in testdata, and a state directory that they share with the present ones. Every later version must pass
// them.
//
// The home is not to be edited by hand. It is made anew, with the real CLIs, by
//
//	go test ./internal/e2e/upgrade -run TestMake -make
package upgrade
