package rehearse

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// rest answers a request of the REST API. What it changes is changed when this returns.
func (g *GitHub) rest(r *http.Request, body []byte) reply {
	g.mu.Lock()
	defer g.mu.Unlock()
	var in struct {
		Title, Body, Name, Head, Base, State string
		Labels                               []string
	}
	json.Unmarshal(body, &in)
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/" || r.URL.Path == "":
		return githubReply(200, object{"current_user_url": "http://api." + githubHost + "/user"})
	case parts[0] == "user":
		return githubReply(200, object{"login": githubUser, "id": 1, "type": "User"})
	case parts[0] == "zen":
		return reply{status: 200, header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, chunks: [][]byte{[]byte("Keep it logically awesome.")}}
	case parts[0] == "search" && len(parts) == 2:
		list := each(g.search(r.URL.Query().Get("q")), restIssue)
		return githubReply(200, object{"total_count": len(list), "incomplete_results": false, "items": list})
	case parts[0] != "repos" || len(parts) < 3:
		return restError(404, "Not Found")
	}
	repo, rest := g.repo(parts[1]+"/"+parts[2]), parts[3:]
	what := strings.Join(rest, "/")
	post := r.Method == http.MethodPost
	switch {
	case what == "":
		return githubReply(200, restRepo(repo))
	case what == "issues" && post:
		if in.Title == "" {
			return restError(422, "Validation Failed", object{"resource": "Issue", "field": "title", "code": "missing_field"})
		}
		return githubReply(201, restIssue(g.create(repo, Issue{Title: in.Title, Body: in.Body, Labels: in.Labels})))
	case what == "pulls" && post:
		return githubReply(201, restIssue(g.create(repo, Issue{Title: in.Title, Body: in.Body, PullRequest: true, Head: in.Head, Base: in.Base})))
	case what == "issues" || what == "pulls":
		return page(r.URL, each(repo.restList(what == "pulls", r.URL.Query()), restIssue))
	case what == "labels" && post:
		if slices.Contains(repo.labels, in.Name) {
			return restError(422, "Validation Failed", object{"resource": "Label", "field": "name", "code": "already_exists"})
		}
		repo.labels = append(repo.labels, in.Name)
		return githubReply(201, object{"name": in.Name, "color": "ededed"})
	case what == "labels":
		return page(r.URL, each(repo.labels, func(label string) object { return object{"name": label, "color": "ededed"} }))
	case len(rest) == 3 && rest[0] == "check-runs":
		return githubReply(200, []object{})
	case strings.HasPrefix(what, "actions/"):
		return g.actions(repo, r.URL, rest[1:])
	case len(rest) >= 2 && (rest[0] == "issues" || rest[0] == "pulls"):
		n, _ := strconv.Atoi(rest[1])
		i := repo.issue(n)
		if i == nil {
			return restError(404, "Not Found")
		}
		return g.restOne(r, i, rest[2:], in.Title, in.Body, in.State)
	}
	return restError(404, "Not Found")
}

// restOne answers what is asked of one issue.
func (g *GitHub) restOne(r *http.Request, i *Issue, rest []string, title, body, state string) reply {
	switch what := strings.Join(rest, "/"); {
	case what == "" && r.Method == http.MethodPatch:
		i.Title, i.Body, i.State = cmp.Or(title, i.Title), cmp.Or(body, i.Body), cmp.Or(strings.ToUpper(state), i.State)
		return githubReply(200, restIssue(i))
	case what == "":
		return githubReply(200, restIssue(i))
	case what == "comments" && r.Method == http.MethodPost:
		c := g.comment(i, body)
		return githubReply(201, restComment(i, &c))
	case what == "comments":
		return page(r.URL, each(i.Comments, func(c Comment) object { return restComment(i, &c) }))
	}
	return restError(404, "Not Found")
}

// actions answers for workflow runs. The run of number n takes n milliseconds from when it is first asked for.
func (g *GitHub) actions(repo *repository, u *url.URL, rest []string) reply {
	if len(rest) == 2 && rest[0] == "workflows" {
		return githubReply(200, object{"id": 1, "name": "ci", "state": "active", "path": ".github/workflows/ci.yml"})
	}
	if len(rest) < 2 || rest[0] != "runs" {
		return restError(404, "Not Found")
	}
	ms, _ := strconv.Atoi(rest[1])
	if g.runs == nil {
		g.runs = map[string]time.Time{}
	}
	began, ok := g.runs[rest[1]]
	if !ok {
		began = time.Now()
		g.runs[rest[1]] = began
	}
	status, conclusion := "in_progress", ""
	if time.Since(began) >= time.Duration(ms)*time.Millisecond {
		status, conclusion = "completed", "success"
	}
	address := fmt.Sprintf("http://%s/%s/actions/runs/%d", githubHost, repo.name, ms)
	api := fmt.Sprintf("http://api.%s/repos/%s/actions/runs/%d", githubHost, repo.name, ms)
	if len(rest) == 3 && rest[2] == "jobs" {
		return githubReply(200, object{"total_count": 1, "jobs": []object{{"id": 1, "run_id": ms, "name": "build", "status": status, "conclusion": conclusion,
			"started_at": stamp(began), "html_url": address + "/job/1", "steps": []object{{"name": "make", "number": 1, "status": status, "conclusion": conclusion}}}}})
	}
	return githubReply(200, object{"id": ms, "name": "ci", "display_title": "a change", "head_branch": "main", "head_sha": "0123456789", "status": status,
		"conclusion": conclusion, "event": "push", "workflow_id": 1, "run_attempt": 1, "run_number": 1, "html_url": address, "url": api, "jobs_url": api + "/jobs",
		"created_at": stamp(began), "updated_at": stamp(time.Now()), "run_started_at": stamp(began), "repository": restRepo(repo), "head_repository": restRepo(repo)})
}

func restRepo(r *repository) object {
	owner, name, _ := strings.Cut(r.name, "/")
	return object{"id": 1, "node_id": "R_" + r.name, "name": name, "full_name": r.name, "owner": object{"login": owner}, "private": false,
		"default_branch": "main", "html_url": "http://" + githubHost + "/" + r.name, "has_issues": true}
}

func (r *repository) restList(pulls bool, q url.Values) (list []*Issue) {
	since, _ := time.Parse(time.RFC3339, q.Get("since"))
	for _, i := range slices.Backward(r.issues) {
		state := cmp.Or(q.Get("state"), "open")
		if (i.PullRequest || !pulls) && (state == "all" || strings.EqualFold(state, i.State)) && !i.Created.Before(since) &&
			(q.Get("creator") == "" || q.Get("creator") == i.Author) {
			list = append(list, i)
		}
	}
	return list
}

// each makes an object of each of a list.
func each[T any](list []T, form func(T) object) []object {
	objects := make([]object, len(list))
	for i, one := range list {
		objects[i] = form(one)
	}
	return objects
}

func restIssue(i *Issue) object {
	labels := each(i.Labels, func(label string) object { return object{"name": label} })
	o := object{"id": i.Number, "node_id": i.id(), "number": i.Number, "title": i.Title, "body": i.Body, "state": strings.ToLower(i.State),
		"html_url": i.url(), "user": object{"login": i.Author}, "labels": labels, "comments": len(i.Comments), "created_at": stamp(i.Created), "updated_at": stamp(i.Created)}
	if i.PullRequest {
		o["pull_request"] = object{"html_url": i.url()}
		o["head"], o["base"] = object{"ref": i.Head}, object{"ref": i.Base}
	}
	return o
}

func restComment(i *Issue, c *Comment) object {
	return object{"id": c.ID, "body": c.Body, "user": object{"login": c.Author}, "html_url": c.url(i), "created_at": stamp(c.Created), "updated_at": stamp(c.Created)}
}

// page is one page of a list, with the address of the next in the header Link.
func page(u *url.URL, list []object) reply {
	q := u.Query()
	size, _ := strconv.Atoi(cmp.Or(q.Get("per_page"), "30"))
	number, _ := strconv.Atoi(cmp.Or(q.Get("page"), "1"))
	size, number = min(max(size, 1), 100), max(number, 1)
	from := min((number-1)*size, len(list))
	to := min(from+size, len(list))
	rep := githubReply(200, append([]object{}, list[from:to]...))
	if to < len(list) {
		q.Set("page", strconv.Itoa(number+1))
		next := *u
		next.RawQuery = q.Encode()
		rep.header.Set("Link", fmt.Sprintf(`<%s>; rel="next"`, next.String()))
	}
	return rep
}

// githubReply is an answer of JSON without a line's end: gh puts pages together by their last byte.
func githubReply(status int, value any) reply {
	rep := jsonReply(status, value)
	last := len(rep.chunks) - 1
	rep.chunks[last] = bytes.TrimRight(rep.chunks[last], "\n")
	return rep
}

func restError(status int, message string, errors ...object) reply {
	body := object{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)}
	if len(errors) > 0 {
		body["errors"] = errors
	}
	return githubReply(status, body)
}
