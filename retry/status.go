package retry

import (
	"reflect"
	"time"
)

// Status returns the HTTP status of an error response that err carries, from 400 to 599, and false if it carries none. The
// first error in err's tree counts that has a method StatusCode or HTTPStatusCode, or an exported field of that name. So it
// finds what most clients of HTTP APIs return, and none of them need be known here.
func Status(err error) (code int, ok bool) {
	walk(err, func(err error) bool {
		code, ok = statusOf(err)
		return ok
	})
	return code, ok
}

func statusOf(err error) (int, bool) {
	var code int
	switch e := err.(type) {
	case interface{ StatusCode() int }:
		code = e.StatusCode()
	case interface{ HTTPStatusCode() int }:
		code = e.HTTPStatusCode()
	default:
		for _, name := range []string{"StatusCode", "HTTPStatusCode"} {
			if f := field(err, name); f.Kind() == reflect.Int {
				code = int(f.Int())
				break
			}
		}
	}
	return code, code >= 400 && code <= 599
}

// retryAfter returns how long err asks to wait, by a method or field RetryAfter; 0 if it does not.
func retryAfter(err error) (after time.Duration) {
	walk(err, func(err error) bool {
		if e, ok := err.(interface{ RetryAfter() time.Duration }); ok {
			after = e.RetryAfter()
		} else if f := field(err, "RetryAfter"); f.IsValid() {
			after, _ = f.Interface().(time.Duration)
		}
		after = max(after, 0)
		return after > 0
	})
	return after
}

// field returns an exported field of an error that is a struct, or points to one. A pointer in it is followed.
func field(err error, name string) reflect.Value {
	v := reflect.Indirect(reflect.ValueOf(err))
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	f, ok := v.Type().FieldByName(name)
	if !ok || !f.IsExported() {
		return reflect.Value{}
	}
	found, nilled := v.FieldByIndexErr(f.Index)
	if nilled != nil || !found.CanInterface() {
		return reflect.Value{}
	}
	return reflect.Indirect(found)
}

// walk goes through err and all that it wraps, as [errors.Is] does, until found says that it was. A nil pointer among them
// is passed over: its methods may not expect one.
func walk(err error, found func(error) bool) bool {
	if v := reflect.ValueOf(err); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return false
	}
	if found(err) {
		return true
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return walk(e.Unwrap(), found)
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			if walk(err, found) {
				return true
			}
		}
	}
	return false
}
