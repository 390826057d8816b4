package gh

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// GraphQL asks GitHub's GraphQL API and decodes the data of the answer; a nil to drops it. Errors in the answer are an
// error, whatever came with them, after retries where they are a limit or pass by themselves.
func (c *Client) GraphQL(ctx context.Context, query string, variables map[string]any, to any) error {
	args, clean, err := graphqlArgs(query, variables)
	if err != nil {
		return &Error{Args: []string{"api", "graphql"}, Err: err}
	}
	defer clean()
	res, err := c.Run(ctx, args, true)
	var answer struct {
		Data   json.RawMessage
		Errors []struct{ Message string }
	}
	if res != nil && json.Unmarshal([]byte(res.Stdout), &answer) == nil && len(answer.Errors) > 0 {
		var messages []string
		for _, e := range answer.Errors {
			messages = append(messages, e.Message)
		}
		said := fmt.Errorf("GraphQL error: %s", strings.Join(messages, "; "))
		if err != nil {
			said = fmt.Errorf("%w (%w)", said, err)
		}
		return &Error{Args: []string{"api", "graphql"}, Result: res, Err: said}
	}
	if err != nil {
		return err
	}
	if answer.Data == nil {
		return &Error{Args: []string{"api", "graphql"}, Result: res, Err: fmt.Errorf("the answer has no data")}
	}
	if to == nil {
		return nil
	}
	if err := json.Unmarshal(answer.Data, to); err != nil {
		return &Error{Args: []string{"api", "graphql"}, Result: res, Err: err}
	}
	return nil
}

// maxArgument is less than what systems take as one argument.
const maxArgument = 100 << 10

// graphqlArgs are the arguments of gh for a query. Where they would not do, the request goes by a file that only we can
// read, and which clean removes: of a request on stdin the profile cannot tell whether it changes something.
func graphqlArgs(query string, variables map[string]any) (args []string, clean func(), err error) {
	args = []string{"api", "graphql", "-f", "query=" + query}
	size := len(query)
	names := make([]string, 0, len(variables))
	for name := range variables {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		option, value, ok := "-F", "", true
		switch v := variables[name].(type) {
		case string:
			option, value = "-f", v
		case bool:
			value = strconv.FormatBool(v)
		case int:
			value = strconv.Itoa(v)
		case nil:
			value = "null"
		default:
			ok = false
		}
		size += len(value)
		if !ok || name == "query" || name == "operationName" || size > maxArgument || strings.ContainsAny(name, "[]=") {
			return graphqlFile(query, variables)
		}
		args = append(args, option, name+"="+value)
	}
	if size > maxArgument {
		return graphqlFile(query, variables)
	}
	return args, func() {}, nil
}

func graphqlFile(query string, variables map[string]any) (args []string, clean func(), err error) {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return nil, nil, err
	}
	sweep(os.TempDir(), time.Now())
	f, err := os.CreateTemp("", requestPattern()) // for us alone
	if err != nil {
		return nil, nil, err
	}
	clean = func() { os.Remove(f.Name()) }
	_, err = f.Write(body)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		clean()
		return nil, nil, err
	}
	return []string{"api", "graphql", "--input", f.Name()}, clean, nil
}
