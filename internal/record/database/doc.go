// Package database keeps a database of SQLite in a file that any number of processes open, and that a user may damage, copy or take away.
//
// [Open] opens it, and makes or migrates it first (migrate.go). Where nothing can be written it is opened to be asked, and where there is nothing it is in memory. A database that is
// damaged (damage.go) is set aside by one process, which begins a new one, while the others wait (lock.go). [DB.Write] changes it in one transaction. [DB.Ask],
// [Collect] and [Newest] ask it; what they find to be damaged is made again by [Options].Refill and asked once more. [Look] changes nothing.
//
// It knows nothing of what is in the tables.
package database
