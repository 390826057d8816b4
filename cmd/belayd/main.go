// Command belayd is the companion of belay, which runs it for what weighs too much for every call.
package main

import (
	"context"
	"maps"
	"os"
	"runtime/debug"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/demo"
	"github.com/belay-run/belay/internal/command/mcpurl"
	"github.com/belay-run/belay/internal/command/rehearse"
	"github.com/belay-run/belay/internal/stdio"
)

// light are the commands that every belayd has. Those of record.go need the database.
var light = map[string]request.Func{
	belayd.Certify:      rehearse.Certify,
	belayd.Demo:         demo.Run,
	belayd.MCP:          mcpurl.Run,
	belayd.Rehearse:     rehearse.Run,
	belayd.RehearseInit: rehearse.Init,
	belayd.RehearseTest: rehearse.Test,
}

// programs are what belayd is when it is started under another name.
var programs = map[string]func(context.Context, stdio.Streams, []string) int{demo.AskName: demo.Ask}

// table is what this executable links.
func table() *request.Table {
	commands := maps.Clone(light)
	maps.Copy(commands, ofRecord)
	return &request.Table{Commands: commands, Programs: programs}
}

func main() {
	debug.SetTraceback("crash") // a failure of the Go runtime ends by SIGABRT: its exit code 2 tells the clients of hooks to block
	belayd.RestoreEnviron()
	os.Exit(table().Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
