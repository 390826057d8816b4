// Package target is what the commands share that change or show the files of clients: belay hook, belay mcp and belay uninstall-all. [Target] is whose hooks or
// servers are meant, by flags; [Look] is what is there; and what is said of an edit is the same for all.
package target
