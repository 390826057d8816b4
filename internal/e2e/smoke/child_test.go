package smoke_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// childWord is the first argument with which this executable is what belay runs.
const childWord = "child"

// command is the command line of a child.
func command(args ...string) []string { return append([]string{self, childWord}, args...) }

// child does what the arguments say, and returns its exit code.
func child(args []string) int {
	number := func(i int) int {
		n, err := strconv.Atoi(args[i])
		if err != nil {
			panic(err)
		}
		return n
	}
	switch args[0] {
	case "exit":
		fmt.Fprintln(os.Stderr, "exit", args[1])
		return number(1)
	case "print":
		fmt.Print(args[1])
		return 0
	case "args": // what has come of the arguments
		json.NewEncoder(os.Stdout).Encode(args[1:])
		return 0
	case "cat":
		io.Copy(os.Stdout, os.Stdin)
		return 0
	case "much": // so many lines, and then the end without a pause
		fmt.Print(strings.Repeat(muchLine, number(1)))
		return 0
	case "attempt": // FILE N: fails until it has been started N times
		f, err := os.OpenFile(args[1], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		fmt.Fprint(f, "x")
		info, _ := f.Stat()
		f.Close()
		if int(info.Size()) < number(2) {
			fmt.Println("half an answer")
			return 1
		}
		fmt.Print("attempt ", info.Size())
		return 0
	case "tree": // ADDRESS DEPTH: a process with so many generations below it
		return tree(args[1], number(2))
	}
	panic("what is " + args[0])
}

const muchLine = "a line of forty bytes, the last is a \\n.\n"

// tree is a process with others below it, each the child of the one before. All call the test, and end when it hangs up, or
// with the code that it tells them.
func tree(address string, depth int) int {
	if depth > 0 {
		cmd := exec.Command(self, childWord, "tree", address, strconv.Itoa(depth-1))
		cmd.Stdout = os.Stdout // which holds belay's pipe open
		if err := cmd.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 98
		}
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 97
	}
	fmt.Fprintf(conn, "%c", 'a'+depth)
	var code [1]byte
	if _, err := io.ReadFull(conn, code[:]); err != nil {
		return 96
	}
	return int(code[0])
}
