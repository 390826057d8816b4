package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
)

// fields reads the values of a table one by one, and keeps what is wrong with them.
type fields struct {
	table map[string]any
	under *fields // the table that this one stands in; nil for the outermost
	name  string  // its name there
	asked []string
	wrong []wrongField
}

// wrongField is a key and what is wrong with its value.
type wrongField struct {
	key string
	err error
}

// fail notes what is wrong with a key.
func (t *fields) fail(key string, err error) {
	if t.under != nil {
		t.under.fail(strings.TrimSuffix(t.name+"."+key, "."), err)
	} else if !slices.ContainsFunc(t.wrong, func(w wrongField) bool { return w.key == key }) {
		t.wrong = append(t.wrong, wrongField{key, err})
	}
}

// keys are those of the table, in order.
func (t *fields) keys() []string { return slices.Sorted(maps.Keys(t.table)) }

// get is the value of a key; nil if it has none.
func (t *fields) get(key string) any {
	t.asked = append(t.asked, key)
	return t.table[key]
}

// close refuses keys that nothing has asked for.
func (t *fields) close() {
	for _, key := range t.keys() {
		if !slices.Contains(t.asked, key) {
			t.fail(key, message.Error(message.UnknownKey(key, t.asked...)))
		}
	}
}

// text is a string; empty if there is none.
func (t *fields) text(key string) string {
	value := t.get(key)
	text, ok := value.(string)
	if value != nil && (!ok || text == "") {
		t.fail(key, message.Error(message.NotAString(value)))
	}
	return text
}

// texts is a string, or a list of them.
func (t *fields) texts(key string) []string { return t.checked(key, nil) }

// checked is the same of strings that a check lets through.
func (t *fields) checked(key string, check func(string) error) []string {
	return read(t, key, func(value any) (list []string, err error) {
		values, ok := value.([]any)
		if !ok {
			values = []any{value}
		}
		if len(values) == 0 {
			return nil, errors.New("is empty")
		}
		for _, v := range values {
			text, ok := v.(string)
			if !ok || text == "" {
				return nil, message.Error(message.NotAString(v))
			}
			if check != nil {
				if err := check(text); err != nil {
					return nil, err
				}
			}
			list = append(list, text)
		}
		return list, nil
	})
}

// oneOf is one of some strings; empty if there is none.
func (t *fields) oneOf(key string, allowed ...string) string {
	text := t.text(key)
	if text != "" && !slices.Contains(allowed, text) {
		t.fail(key, message.Error(message.NotOneOf(text, allowed)))
	}
	return text
}

// flag is true or false.
func (t *fields) flag(key string) bool {
	value := t.get(key)
	set, ok := value.(bool)
	if value != nil && !ok {
		t.fail(key, message.Error("must be true or false"))
	}
	return set
}

// count is a number that is not negative.
func (t *fields) count(key string) int64 {
	value := t.get(key)
	n, ok := value.(int64)
	if value != nil && (!ok || n < 0) {
		text, _ := flat(value)
		t.fail(key, message.Error(message.NotWholeNumber(text)))
	}
	return max(n, 0)
}

// codes are numbers between two bounds: one, or a list of them.
func (t *fields) codes(key string, low, high int) (list []int) {
	value := t.get(key)
	values, ok := value.([]any)
	if !ok && value != nil {
		values = []any{value}
	}
	for _, v := range values {
		n, ok := v.(int64)
		if !ok || n < int64(low) || n > int64(high) {
			text, _ := flat(v)
			t.fail(key, message.Error(message.NotANumber(text, low, high)))
			return nil
		}
		list = append(list, int(n))
	}
	return list
}

// duration is a duration, written as in all settings.
func (t *fields) duration(key string) time.Duration { return parsed(t, key, ParseDuration) }

// parsed is what a value means, written as on the command line; zero if there is none.
func parsed[T any](t *fields, key string, parse func(string) (T, error)) T {
	return read(t, key, func(value any) (v T, err error) {
		text, err := flat(value)
		if err == nil {
			v, err = parse(text)
		}
		return v, err
	})
}

// read is what a value means; zero if there is none.
func read[T any](t *fields, key string, read func(any) (T, error)) (v T) {
	value := t.get(key)
	if value == nil {
		return v
	}
	v, err := read(value)
	if err != nil {
		t.fail(key, err)
	}
	return v
}

// inner is a table in the table; an empty one if there is none.
func (t *fields) inner(key string) *fields { return t.tableOf(key, message.MustBeTable("")) }

// tableOf is the same; must says so where it is not one.
func (t *fields) tableOf(key, must string) *fields {
	value := t.get(key)
	table, ok := value.(map[string]any)
	if value != nil && !ok {
		t.fail(key, message.Error(must))
	}
	return &fields{table: table, under: t, name: key}
}

// rows are the tables of a list.
func (t *fields) rows(key string) (rows []*fields) {
	value := t.get(key)
	list, ok := value.([]any)
	if value != nil && !ok {
		t.fail(key, message.Error(message.MustBeTables(key)))
	}
	for i, v := range list {
		name := key + "[" + strconv.Itoa(i+1) + "]"
		table, ok := v.(map[string]any)
		if !ok {
			t.fail(name, message.Error(message.MustBeTables(key)))
		}
		rows = append(rows, &fields{table: table, under: t, name: name})
	}
	return rows
}

// flat writes a value of the file as it would be written on the command line.
func flat(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case []any:
		var parts []string
		for _, e := range v {
			part, err := flat(e)
			if err != nil {
				return "", err
			}
			parts = append(parts, part)
		}
		return strings.Join(parts, ","), nil
	}
	_, isTable := v.(map[string]any)
	return "", message.Error(message.MustBeScalar(isTable))
}

// tagList are the tags of a table in a file, as a list of KEY=VALUE.
func tagList(table map[string]any) (list []any) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		value, err := flat(table[key])
		if _, isList := table[key].([]any); err != nil || isList {
			return []any{table[key]} // which is no tag
		}
		list = append(list, key+"="+value)
	}
	return list
}

// checkTag reports whether a text is one tag.
func checkTag(text string) error {
	tags, err := label.Parse(text)
	if err == nil && (len(tags) != 1 || strings.HasSuffix(text, "=")) {
		err = message.Error(fmt.Sprintf("%q is not KEY=VALUE", text))
	}
	return err
}
