//go:build race

package engine_test

func init() { faultsByDefault = 600 } // each takes four times as long
