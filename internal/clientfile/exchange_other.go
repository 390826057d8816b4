//go:build !linux && !darwin

package clientfile

// exchange does not exist here.
func (f *diskFile) exchange(tmp string, before []byte) error { return errNoExchange }
