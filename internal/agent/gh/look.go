package gh

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// repo are the options that name the repository, to be used in another command.
func (l *line) repo() []string {
	if repo := l.opts.Value("--repo"); repo != "" {
		return []string{"--repo", repo}
	}
	return nil
}

// body is the text that was to be posted; false if it came from where it cannot be read again.
func (l *line) body() (string, bool) {
	switch {
	case l.opts.Has("--body-file"):
		content, ok := l.file(l.opts.Value("--body-file"))
		return string(content), ok
	case l.opts.Has("--body"):
		return l.opts.Value("--body"), true
	}
	return "", false
}

// same reports whether GitHub has kept a text: it changes the ends of lines, and space around it.
func same(a, b string) bool {
	tidy := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return tidy(a) == tidy(b)
}

// found is an issue, a pull request or a comment.
type found struct {
	Title, Body, URL string
	CreatedAt        time.Time
	HeadRefName      string
	ViewerDidAuthor  bool
	Author           struct{ Login string }
}

// pageSize is how many are looked through. More in the time of one attempt is more than can be told apart.
const pageSize = 100

func (l *line) lookForIssue(ctx context.Context, from time.Time, ask ask) (string, error) {
	return l.lookInList(ctx, from, ask, []string{"issue", "list", "--state", "all", "--limit", strconv.Itoa(pageSize), "--json", "title,body,url,createdAt,author"}, "")
}

func (l *line) lookForPull(ctx context.Context, from time.Time, ask ask) (string, error) {
	args := []string{"pr", "list", "--state", "all", "--limit", strconv.Itoa(pageSize), "--json", "title,body,url,createdAt,author,headRefName"}
	_, head, hasOwner := strings.Cut(l.opts.Value("--head"), ":")
	if !hasOwner {
		head = l.opts.Value("--head")
	}
	if head != "" {
		args = append(args, "--head", head)
	} else if !l.opts.Has("--title") {
		return "", fmt.Errorf("%w: neither the title nor the branch is known", errUnsure)
	}
	return l.lookInList(ctx, from, ask, args, head)
}

func (l *line) lookInList(ctx context.Context, from time.Time, ask ask, args []string, head string) (string, error) {
	out, err := ask(ctx, append(args, l.repo()...)...)
	if err != nil {
		return "", err
	}
	var list []found
	if err := json.Unmarshal(out, &list); err != nil {
		return "", err
	}
	body, hasBody := l.body()
	for _, f := range list { // the newest first
		if f.CreatedAt.Before(from) {
			continue
		}
		if l.opts.Has("--title") && !same(f.Title, l.opts.Value("--title")) || hasBody && !same(f.Body, body) || head != "" && f.HeadRefName != head {
			continue
		}
		mine, err := byViewer(ctx, f, ask)
		if err != nil {
			return "", err
		}
		if mine {
			return f.URL, nil
		}
	}
	if len(list) == pageSize && !list[len(list)-1].CreatedAt.Before(from) {
		return "", fmt.Errorf("%w: too much has been made meanwhile", errUnsure)
	}
	return "", nil
}

// byViewer reports whether it was made by the user that gh is logged in as. Apps go by several names.
func byViewer(ctx context.Context, f found, ask ask) (bool, error) {
	out, err := ask(ctx, "api", "graphql", "-f", "query={viewer{login}}", "--jq", ".data.viewer.login")
	if err != nil {
		return false, err
	}
	plain := func(login string) string {
		return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(login), "app/"), "[bot]"))
	}
	return f.Author.Login == "" || plain(string(out)) == plain(f.Author.Login), nil
}

func (l *line) lookForComment(ctx context.Context, from time.Time, ask ask) (string, error) {
	kind, _, _ := strings.Cut(l.command, " ")
	out, err := ask(ctx, append([]string{kind, "view", l.opts.Words()[0].Values[0], "--json", "comments"}, l.repo()...)...)
	if err != nil {
		return "", err
	}
	var view struct{ Comments []found }
	if err := json.Unmarshal(out, &view); err != nil {
		return "", err
	}
	body, known := l.body()
	for _, c := range slices.Backward(view.Comments) {
		switch {
		case c.CreatedAt.Before(from) || !c.ViewerDidAuthor:
		case !known:
			return "", fmt.Errorf("%w: there is a new comment, and what yours was to say cannot be read again", errUnsure)
		case same(c.Body, body):
			return c.URL, nil
		}
	}
	return "", nil
}
