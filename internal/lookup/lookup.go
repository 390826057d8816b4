// Package lookup has small tables. A map that is a variable of a package is built at every start of the program; a [Table] is
// laid out by the linker, and finding one of a few dozen rows takes no longer.
package lookup

// Table says what is known of each key, a row each.
type Table[K comparable, V any] []struct {
	Key   K
	Value V
}

// Find is what the table says of a key. The bool tells whether it says anything.
func (t Table[K, V]) Find(key K) (value V, ok bool) {
	for i := range t {
		if t[i].Key == key {
			return t[i].Value, true
		}
	}
	return value, false
}

// Of is what the table says of a key; the zero value if it says nothing.
func (t Table[K, V]) Of(key K) V {
	value, _ := t.Find(key)
	return value
}
