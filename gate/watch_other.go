//go:build !linux

package gate

import "errors"

// Watch would say when the state of a key may have changed. Here one has to look.
func (f *Files) Watch(string) (changed <-chan struct{}, stop func(), err error) {
	return nil, nil, errors.ErrUnsupported
}
