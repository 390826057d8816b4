package record

import "slices"

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

// NewFigure lets a test keep what commands have retried by themselves in a column that the next version of the schema adds, as a new figure would be.
func NewFigure(column string) (restore func()) {
	before, texts := figures, migrations
	figures = slices.Clone(before)
	i := slices.IndexFunc(figures, func(f Figure) bool { return f.column == "inner_retries" })
	figures[i].column, figures[i].in, figures[i].since, figures[i].CSV = column, everywhere, len(texts)+1, column
	figures[i].Heading, figures[i].Place, figures[i].Page = "INNER", 9, "Inner"
	migrations = withFigures(slices.Clone(texts)...)
	return func() { figures, migrations = before, texts }
}
