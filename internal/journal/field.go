package journal

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// field is a field of an entry: what it is called in a line, and a pointer to it. keep says that it is written also where there is
// nothing in it.
type field struct {
	name  string
	value any
	keep  bool
}

// fieldTags are the names of the fields and whether they are kept, as the tags of an [Entry] have them.
var fieldTags = sync.OnceValue(func() []field {
	list := make([]field, reflect.TypeFor[Entry]().NumField())
	for i := range list {
		name, options, _ := strings.Cut(reflect.TypeFor[Entry]().Field(i).Tag.Get("json"), ",")
		list[i] = field{name: name, keep: options == ""}
	}
	return list
})

// fields are all fields of an entry, in their order. Of texts with a type of their own the pointers are those to a string.
func (e *Entry) fields() []field {
	list, values := slices.Clone(fieldTags()), reflect.ValueOf(e).Elem()
	for i := range list {
		switch v := values.Field(i).Addr(); v.Elem().Kind() {
		case reflect.String:
			list[i].value = v.Convert(reflect.TypeFor[*string]()).Interface()
		default:
			list[i].value = v.Interface()
		}
	}
	return list
}

// shorten cuts every text to so many bytes, and leaves out tags, which are short unless they are not ours.
func (e *Entry) shorten(most int) {
	e.Tags = nil
	for _, f := range e.fields() {
		if text, ok := f.value.(*string); ok {
			*text = cut(*text, most)
		}
	}
}
