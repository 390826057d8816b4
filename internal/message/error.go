package message

// Error is an error with this text. The causes are what errors.Is and errors.As find in it; its text says them already.
func Error(text string, causes ...error) error { return &textError{text, causes} }

type textError struct {
	text   string
	causes []error
}

func (e *textError) Error() string   { return e.text }
func (e *textError) Unwrap() []error { return e.causes }
