package budget

import "context"

type aroundKey struct{}

// Around returns a context whose runs are charged to a book together: those of a batch, say.
func Around(ctx context.Context, book *Book) context.Context {
	return context.WithValue(ctx, aroundKey{}, book)
}

// Of is the book that all runs in a context are charged to; nil if there is none.
func Of(ctx context.Context) *Book {
	book, _ := ctx.Value(aroundKey{}).(*Book)
	return book
}
