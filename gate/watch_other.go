//go:build !linux

package gate

import "errors"

// Watch returns an error: on this system the caller has to poll.
func (f *Files) Watch(string) (changed <-chan struct{}, stop func(), err error) {
	return nil, nil, errors.ErrUnsupported
}
