package db

// Schema lets a test make a database of an earlier version.
func Schema(version int) (restore func()) {
	before := migrations
	migrations = before[:version]
	return func() { migrations = before }
}

// Latest is the version of the schema.
func Latest() int { return len(migrations) }

// Migrations lets a test pretend that there is a later version of the schema.
func Migrations(more ...string) (restore func()) {
	before := migrations
	migrations = append(append([]string{}, before...), more...)
	return func() { migrations = before }
}
