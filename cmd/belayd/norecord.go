//go:build norecord

package main

import "github.com/belay-run/belay/internal/belayd/request"

var ofRecord map[string]request.Func
