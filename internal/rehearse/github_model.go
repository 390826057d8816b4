package rehearse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// GitHub is the small GitHub that a rehearsal has in memory. A repository exists as soon as a request names it.
type GitHub struct {
	mu     sync.Mutex
	repos  map[string]*repository
	nextID int
	runs   map[string]time.Time // when a workflow run was first asked for
}

// Issue is one of its issues or pull requests.
type Issue struct {
	Repository  string // owner/name
	Number      int
	Title, Body string
	State       string // OPEN or CLOSED
	Author      string
	Labels      []string
	Created     time.Time
	Comments    []Comment
	// PullRequest says that it is one, from the branch Head into Base.
	PullRequest bool
	Head, Base  string
}

// Comment is one on an issue or a pull request.
type Comment struct {
	ID           int
	Body, Author string
	Created      time.Time
}

type repository struct {
	name   string // owner/name
	issues []*Issue
	labels []string
}

// githubUser is the user that the rehearsal's token belongs to.
const githubUser = "octo"

// GitHub is the stand-in's own view: what has really happened, whatever the client was told.
func (a *API) GitHub() *GitHub { return &a.github }

// Issues are the issues of all repositories, pull requests included, in the order in which they were made.
func (g *GitHub) Issues() []Issue {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []Issue
	for _, r := range g.repos {
		for _, i := range r.issues {
			copied := *i
			copied.Comments, copied.Labels = slices.Clone(i.Comments), slices.Clone(i.Labels)
			list = append(list, copied)
		}
	}
	slices.SortFunc(list, func(a, b Issue) int {
		return strings.Compare(a.Repository, b.Repository)*1000 + a.Created.Compare(b.Created)*10 + (a.Number - b.Number)
	})
	return list
}

// Add makes an issue, as if it had been there before.
func (g *GitHub) Add(repository, title, body string, labels []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.create(g.repo(repository), Issue{Title: title, Body: body, Labels: labels})
}

// repo is the repository owner/name, made if need be. The caller has the lock, here and below.
func (g *GitHub) repo(name string) *repository {
	if g.repos == nil {
		g.repos = map[string]*repository{}
	}
	key := strings.ToLower(name)
	if g.repos[key] == nil {
		g.repos[key] = &repository{name: name, labels: []string{"bug", "epic", "story", "task"}}
	}
	return g.repos[key]
}

func (g *GitHub) create(r *repository, i Issue) *Issue {
	i.Repository, i.Number, i.State, i.Author, i.Created = r.name, len(r.issues)+1, "OPEN", githubUser, time.Now()
	r.issues = append(r.issues, &i)
	return &i
}

func (g *GitHub) comment(i *Issue, body string) Comment {
	g.nextID++
	c := Comment{ID: g.nextID, Body: body, Author: githubUser, Created: time.Now()}
	i.Comments = append(i.Comments, c)
	return c
}

// issue is one by its number; nil if there is none.
func (r *repository) issue(number int) *Issue {
	if number < 1 || number > len(r.issues) {
		return nil
	}
	return r.issues[number-1]
}

// byID finds what a node's id stands for: R_owner/name, I_owner/name#1, PR_owner/name#1, L_owner/name#label.
func (g *GitHub) byID(id string) (r *repository, i *Issue) {
	_, rest, _ := strings.Cut(id, "_")
	name, after, _ := strings.Cut(rest, "#")
	if strings.Count(name, "/") != 1 {
		return nil, nil
	}
	r = g.repo(name)
	var number int
	fmt.Sscanf(after, "%d", &number)
	return r, r.issue(number)
}

func (i *Issue) id() string {
	if i.PullRequest {
		return fmt.Sprintf("PR_%s#%d", i.Repository, i.Number)
	}
	return fmt.Sprintf("I_%s#%d", i.Repository, i.Number)
}

const githubHost = "github.localhost"

func (i *Issue) url() string {
	kind := "issues"
	if i.PullRequest {
		kind = "pull"
	}
	return fmt.Sprintf("http://%s/%s/%s/%d", githubHost, i.Repository, kind, i.Number)
}

func (c *Comment) id() string { return fmt.Sprintf("IC_%d", c.ID) }

func (c *Comment) url(i *Issue) string { return fmt.Sprintf("%s#issuecomment-%d", i.url(), c.ID) }

// stamp is a time as GitHub writes it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// mutations are the changes that can be made to an issue or a pull request. What they put into the payload is there beside the issue itself.
var mutations = map[string]func(g *GitHub, i *Issue, in, payload object){
	"addComment": func(g *GitHub, i *Issue, in, payload object) {
		c := g.comment(i, text(in["body"]))
		payload["commentEdge"] = object{"node": object{"id": c.id(), "url": c.url(i)}}
	},
	"addLabelsToLabelable":       func(_ *GitHub, i *Issue, in, _ object) { i.Labels = append(i.Labels, labelNames(in["labelIds"])...) },
	"replaceActorsForAssignable": func(*GitHub, *Issue, object, object) {},

	"updateIssue": edit, "updatePullRequest": edit,
	"closeIssue": setState("CLOSED"), "closePullRequest": setState("CLOSED"),
	"reopenIssue": setState("OPEN"), "reopenPullRequest": setState("OPEN"),
}

func edit(_ *GitHub, i *Issue, in, _ object) {
	i.Title, i.Body = cmp.Or(text(in["title"]), i.Title), cmp.Or(text(in["body"]), i.Body)
	if ids, ok := in["labelIds"]; ok {
		i.Labels = labelNames(ids)
	}
}

func setState(to string) func(*GitHub, *Issue, object, object) {
	return func(_ *GitHub, i *Issue, _, _ object) { i.State = to }
}

// mutate does what a field of a mutation says.
func (g *GitHub) mutate(op *operation, field string) (value any, problem object) {
	in := op.args
	for _, v := range op.args {
		if fields, ok := v.(object); ok {
			in = fields
		}
	}
	var id string
	for _, name := range []string{"repositoryId", "issueId", "pullRequestId", "subjectId", "labelableId", "assignableId", "id"} {
		id = cmp.Or(id, text(in[name]))
	}
	r, i := g.byID(id)
	change, known := mutations[field]
	payload := object{"clientMutationId": ""}
	switch isNew := field == "createIssue" || field == "createPullRequest"; {
	case !known && !isNew:
		return nil, op.unknown(field)
	case isNew && r == nil, !isNew && i == nil:
		return nil, noNode(id, field)
	case isNew:
		i = g.create(r, Issue{Title: text(in["title"]), Body: text(in["body"]), Labels: labelNames(in["labelIds"]),
			PullRequest: field == "createPullRequest", Head: text(in["headRefName"]), Base: text(in["baseRefName"])})
	default:
		change(g, i, in, payload)
	}
	payload["issue"], payload["pullRequest"] = g.issueNode(i), g.issueNode(i)
	return payload, nil
}

func labelNames(ids any) (names []string) {
	list, _ := ids.([]any)
	for _, id := range list {
		_, name, _ := strings.Cut(text(id), "#")
		names = append(names, name)
	}
	return names
}
