//go:build !linux && !darwin

package term

import "io"

// Fullscreen is a terminal that is drawn on as a whole, which there is not on this system.
type Fullscreen struct{}

// OpenFullscreen returns [ErrNoFullscreen].
func OpenFullscreen(io.Reader, io.Writer) (*Fullscreen, error) { return nil, ErrNoFullscreen }

// Events are what happens on the screen.
func (s *Fullscreen) Events() <-chan Event { return nil }

// Size is how many columns and lines the terminal has.
func (s *Fullscreen) Size() (columns, lines int) { return 80, 24 }

// Draw shows rows.
func (s *Fullscreen) Draw([]Row) error { return ErrNoFullscreen }

// Close brings back the terminal as it was.
func (s *Fullscreen) Close() {}
