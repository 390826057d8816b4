package sharedfile

import "io/fs"

const nonBlocking = 0

func ours(fs.FileInfo) error { return nil }
