//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// chance makes the choices of a script.
type chance struct{ *rand.Rand }

func newChance(seed uint64) chance { return chance{rand.New(rand.NewPCG(seed, 0xbe1a7))} }

// in reports true in so many of a hundred cases.
func (c chance) in(percent int) bool { return c.IntN(100) < percent }

// pick returns one of them.
func pick[T any](c chance, of ...T) T { return of[c.IntN(len(of))] }

// between returns a number of them, both included.
func (c chance) between(low, high int) int { return low + c.IntN(high-low+1) }

// sessionID is the nth session of a script. All begin alike, so that they are told from ids that belay makes.
func sessionID(seed uint64, n int) string {
	return fmt.Sprintf("01990000-0000-7000-8%03x-%012x", n&0xfff, seed&0xffffffffffff)
}

// words is a text of n words.
func (c chance) words(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = pick(c, "the", "build", "is", "green", "again", "and", "429", "overloaded", "ünïcode", "→", "file", "main.go", "a", "test", "\t", "“quoted”", "timeout")
	}
	return strings.Join(list, " ")
}

// optional adds a flag in so many of a hundred cases.
func (c chance) optional(to *[]string, percent int, flag ...string) {
	if c.in(percent) {
		*to = append(*to, flag...)
	}
}

func (c chance) number(low, high int) string { return strconv.Itoa(c.between(low, high)) }

func number(n int) *int { return &n }
