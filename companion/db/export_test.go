package db

// Migrations lets a test pretend that there is a later version of the schema.
func Migrations(more ...string) (restore func()) {
	before := migrations
	migrations = append(append([]string{}, before...), more...)
	return func() { migrations = before }
}
