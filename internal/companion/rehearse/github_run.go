package rehearse

import (
	"fmt"
	"slices"
	"strings"
)

// resolver is a field of an object that depends on arguments, or that is made only when it is asked for.
type resolver func(args object) any

// run answers an operation: from the root object, the fields that are asked for. What an object does not have is null.
type run struct {
	query     *query
	variables object
	depth     int // fragments can name themselves
	path      []string
	errors    []object
}

const maxDepth = 40

func (r *run) object(from object, set []selection) object {
	out := object{}
	if r.depth++; r.depth > maxDepth {
		return out
	}
	defer func() { r.depth-- }()
	for _, s := range set {
		switch {
		case s.fragment != "":
			f := r.query.fragments[s.fragment]
			r.merge(out, from, f.on, f.set)
		case s.inline:
			r.merge(out, from, s.on, s.set)
		default:
			r.path = append(r.path, s.alias)
			out[s.alias] = r.value(r.field(from, s), s.set)
			r.path = r.path[:len(r.path)-1]
		}
	}
	return out
}

// merge takes over the fields of a fragment, if it is for this type. What is no type of ours is an interface.
func (r *run) merge(out, from object, on string, set []selection) {
	is, _ := from["__typename"].(string)
	if on != is && is != "" && concrete[on] {
		return
	}
	for name, value := range r.object(from, set) {
		old, both := out[name].(object)
		fresh, ok := value.(object)
		if both && ok { // asked for twice, with different fields
			for k, v := range fresh {
				old[k] = v
			}
			continue
		}
		out[name] = value
	}
}

var concrete = map[string]bool{"Issue": true, "PullRequest": true, "Repository": true, "User": true, "Organization": true, "Bot": true,
	"IssueComment": true, "Label": true, "CheckRun": true, "StatusContext": true, "Commit": true, "Discussion": true, "Mannequin": true}

func (r *run) field(from object, s selection) any {
	value := from[s.name]
	if f, ok := value.(resolver); ok {
		args := object{}
		for name, arg := range s.args {
			args[name] = r.literal(arg)
		}
		return f(args)
	}
	return value
}

// literal is a value with the variables put in.
func (r *run) literal(value any) any {
	switch v := value.(type) {
	case variable:
		return r.variables[string(v)]
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = r.literal(v[i])
		}
		return list
	case object:
		fields := object{}
		for name := range v {
			fields[name] = r.literal(v[name])
		}
		return fields
	}
	return value
}

// value is a field's value, of which an object has only what is asked for.
func (r *run) value(value any, set []selection) any {
	switch v := value.(type) {
	case resolver:
		return r.value(v(object{}), set)
	case notFound:
		r.errors = append(r.errors, object{"type": "NOT_FOUND", "message": string(v), "path": slices.Clone(r.path)})
		return nil
	case object:
		if v == nil {
			return nil
		}
		return r.object(v, set)
	case []object:
		list := make([]any, len(v))
		for i := range v {
			list[i] = r.value(v[i], set)
		}
		return list
	}
	return value
}

// connection is a list as GraphQL has it: a page of it, as asked for by first and after, or by last.
func connection(all []object) resolver {
	return func(args object) any {
		from, to := 0, len(all)
		if after, ok := args["after"].(string); ok && after != "" {
			fmt.Sscanf(after, "cursor%d", &from)
			from = max(0, min(from, to))
		}
		if n, ok := number(args["first"]); ok {
			to = max(from, min(to, from+n))
		}
		if n, ok := number(args["last"]); ok {
			from = min(to, max(from, to-n))
		}
		edges := []object{}
		for i := from; i < to; i++ {
			edges = append(edges, object{"node": all[i], "cursor": fmt.Sprintf("cursor%d", i+1)})
		}
		return object{"nodes": all[from:to], "edges": edges, "totalCount": len(all),
			"pageInfo": object{"hasNextPage": to < len(all), "hasPreviousPage": from > 0, "endCursor": fmt.Sprintf("cursor%d", to)}}
	}
}

func number(v any) (int, bool) {
	f, ok := v.(float64)
	return int(f), ok
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// texts are those of a list, in lower case.
func texts(v any) (list []string) {
	all, _ := v.([]any)
	for _, one := range all {
		list = append(list, strings.ToLower(text(one)))
	}
	return list
}
