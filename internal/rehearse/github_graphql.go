package rehearse

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// graphql answers a GraphQL request. What a mutation does is done when this returns. Arguments of fields are not told apart: which repository, which issue
// and which page an operation is about is known by its variables.
func (g *GitHub) graphql(body []byte) object {
	op := parseOperation(body)
	g.mu.Lock()
	defer g.mu.Unlock()
	data := object{}
	reply := object{"data": data}
	for _, alias := range slices.Sorted(maps.Keys(op.set)) { // the same mistake is found every time
		f, answer := op.set[alias], g.query
		if op.kind == "mutation" {
			answer = g.mutate
		}
		value, problem := answer(op, f.name)
		if value == nil && problem != nil {
			return problem
		}
		data[alias] = op.project(value, f.set)
		maps.Copy(reply, problem)
	}
	return reply
}

// unknown is the validation error that gh and its users see most often.
func (op *operation) unknown(field string) object {
	return graphqlError("", fmt.Sprintf("Field '%s' doesn't exist on type '%s'", field, strings.ToUpper(op.kind[:1])+op.kind[1:]), op.kind, field)
}

func graphqlError(kind, message string, path ...string) object {
	e := object{"message": message}
	if kind != "" {
		e["type"] = kind
	}
	if len(path) > 0 {
		e["path"] = path
	}
	return object{"errors": []object{e}}
}

func noNode(id, field string) object {
	return graphqlError("NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id), field)
}

// query is all there is to say of a field of a query.
func (g *GitHub) query(op *operation, field string) (value any, problem object) {
	switch field {
	case "repository":
		return g.queryRepository(op)
	case "node":
		r, i := g.byID(text(op.args["id"]))
		switch {
		case i != nil:
			return g.issueNode(i), nil
		case r != nil:
			return g.repoNode(r), nil
		}
		return nil, noNode(text(op.args["id"]), field)
	case "search":
		return op.page(each(g.search(text(op.args["query"])), g.issueNode)), nil
	case "viewer":
		return userNode(githubUser), nil
	case "user":
		return userNode(text(op.args["login"])), nil
	case "organization":
		return nil, graphqlError("NOT_FOUND", fmt.Sprintf("Could not resolve to an Organization with the login of '%s'.", text(op.args["login"])), field)
	case "rateLimit":
		return object{"limit": 5000, "remaining": 4999, "used": 1, "cost": 1}, nil
	case "__type", "__schema", "__typename": // what this version of the API can do
		return object{"fields": []object{}, "inputFields": []object{}}, nil
	}
	return nil, op.unknown(field)
}

// queryRepository is all of a repository, with the lists and the one issue that the variables are about.
func (g *GitHub) queryRepository(op *operation) (value any, problem object) {
	r := g.repo(text(op.args["owner"]) + "/" + cmp.Or(text(op.args["repo"]), text(op.args["name"])))
	node := g.repoNode(r)
	node["issues"], node["pullRequests"] = op.page(each(r.list(false, op.args), g.issueNode)), op.page(each(r.list(true, op.args), g.issueNode))
	for _, m := range labelForm.FindAllStringSubmatch(op.query, -1) { // older versions of gh ask for each label by its name
		for _, l := range labelNodes(r.name, r.labels) {
			if strings.EqualFold(text(l["name"]), m[2]) {
				node[m[1]] = l
			}
		}
	}
	n, _ := op.args["number"].(float64)
	i := r.issue(int(n))
	for _, f := range []struct{ field, kind, alias string }{{"issue", "Issue", "issue"}, {"pullRequest", "PullRequest", "pullRequest"}, {"issueOrPullRequest", "issue or pull request", "issue"}} {
		if i != nil && (f.field == "issueOrPullRequest" || i.PullRequest == (f.field == "pullRequest")) {
			node[f.field] = g.issueNode(i)
		} else if strings.Contains(op.query, f.field+"(") && n != 0 {
			problem = graphqlError("NOT_FOUND", fmt.Sprintf("Could not resolve to an %s with the number of %d.", f.kind, int(n)), "repository", f.alias)
		}
	}
	return node, problem
}

func userNode(login string) object {
	return object{"__typename": "User", "login": login, "id": "U_" + login, "databaseId": 1, "name": login,
		"projectsV2": connection(nil), "url": "http://" + githubHost + "/" + login}
}

func (g *GitHub) repoNode(r *repository) object {
	owner, name, _ := strings.Cut(r.name, "/")
	return object{
		"__typename": "Repository", "id": "R_" + r.name, "databaseId": 1, "name": name, "nameWithOwner": r.name,
		"owner": userNode(owner), "description": "A rehearsal", "url": "http://" + githubHost + "/" + r.name,
		"hasIssuesEnabled": true, "hasWikiEnabled": true, "hasProjectsEnabled": true, "hasDiscussionsEnabled": false,
		"viewerPermission": "ADMIN", "viewerCanAdminister": true, "isPrivate": false, "isFork": false, "isArchived": false, "visibility": "PUBLIC",
		"mergeCommitAllowed": true, "rebaseMergeAllowed": true, "squashMergeAllowed": true, "deleteBranchOnMerge": false,
		"defaultBranchRef": object{"name": "main"}, "parent": nil, "forks": connection(nil),
		"labels": connection(labelNodes(r.name, r.labels)), "milestones": connection(nil), "assignableUsers": connection([]object{userNode(githubUser)}),
		"suggestedActors": connection([]object{userNode(githubUser)}), "projectsV2": connection(nil), "issueTypes": connection(nil),
		"issueTemplates": []object{}, "pullRequestTemplates": []object{}, "object": nil, "ref": nil,
	}
}

func labelNodes(repository string, names []string) []object {
	return each(names, func(name string) object {
		return object{"__typename": "Label", "id": "L_" + repository + "#" + name, "name": name, "color": "ededed", "description": ""}
	})
}

// list are the issues or the pull requests of a repository that fit what was asked for, the newest first.
func (r *repository) list(pulls bool, args object) (list []*Issue) {
	states, by, head, base := texts(args["states"]), text(args["createdBy"]), text(args["headRefName"]), text(args["baseRefName"])
	for _, i := range slices.Backward(r.issues) {
		if i.PullRequest == pulls && (len(states) == 0 || slices.Contains(states, strings.ToLower(i.State))) &&
			(by == "" || by == i.Author) && (head == "" || head == i.Head) && (base == "" || base == i.Base) {
			list = append(list, i)
		}
	}
	return list
}

func (g *GitHub) issueNode(i *Issue) object {
	owner, _, _ := strings.Cut(i.Repository, "/")
	node := object{
		"__typename": "Issue", "id": i.id(), "number": i.Number, "title": i.Title, "body": i.Body, "url": i.url(),
		"state": i.State, "stateReason": nil, "isPinned": false, "closed": i.State == "CLOSED", "author": userNode(i.Author),
		"createdAt": stamp(i.Created), "updatedAt": stamp(i.Created), "closedAt": nil, "milestone": nil,
		"comments": i.comments(), "labels": connection(labelNodes(i.Repository, i.Labels)), "assignees": connection(nil), "assignedActors": connection(nil),
		"projectCards": connection(nil), "projectItems": connection(nil), "reactionGroups": []object{},
		"repository": g.repoSummary(i.Repository),
	}
	if !i.PullRequest {
		return node
	}
	check := object{"__typename": "CheckRun", "name": "build", "status": "COMPLETED", "conclusion": "SUCCESS", "isRequired": false,
		"startedAt": stamp(i.Created), "completedAt": stamp(i.Created), "detailsUrl": "http://" + githubHost + "/ci", "checkSuite": object{"workflowRun": object{"event": "push", "workflow": object{"name": "ci"}}}}
	if strings.HasPrefix(i.Head, "pending") { // checks that are not over
		check["status"], check["conclusion"], check["completedAt"] = "IN_PROGRESS", "", nil
	}
	rollup := object{"commit": object{"oid": "0123456789", "statusCheckRollup": object{"contexts": connection([]object{check})}}}
	for name, value := range (object{
		"__typename": "PullRequest", "headRefName": i.Head, "baseRefName": i.Base, "isDraft": false, "isCrossRepository": false,
		"maintainerCanModify": true, "mergeable": "MERGEABLE", "mergeStateStatus": "CLEAN", "reviewDecision": "", "additions": 1, "deletions": 0,
		"headRepository": g.repoSummary(i.Repository), "headRepositoryOwner": userNode(owner), "headRefOid": "0123456789",
		"commits": connection([]object{rollup}), "statusCheckRollup": connection([]object{rollup}),
		"reviewRequests": connection(nil), "reviews": connection(nil), "latestReviews": connection(nil), "files": connection(nil), "closingIssuesReferences": connection(nil),
	}) {
		node[name] = value
	}
	return node
}

func (g *GitHub) repoSummary(name string) object {
	_, short, _ := strings.Cut(name, "/")
	return object{"__typename": "Repository", "id": "R_" + name, "name": short, "nameWithOwner": name}
}

func (i *Issue) comments() object {
	return connection(each(i.Comments, func(c Comment) object {
		return object{"id": c.id(), "body": c.Body, "author": userNode(c.Author),
			"authorAssociation": "OWNER", "createdAt": stamp(c.Created), "includesCreatedEdit": false, "isMinimized": false, "minimizedReason": "",
			"reactionGroups": []object{}, "url": c.url(i), "viewerDidAuthor": c.Author == githubUser}
	}))
}

// connection is a list as GraphQL has it.
func connection(nodes []object) object {
	edges := each(nodes, func(node object) object { return object{"node": node} })
	return object{"nodes": append([]object{}, nodes...), "edges": edges, "totalCount": len(nodes), "pageInfo": object{"hasNextPage": false, "endCursor": ""}}
}

// page is the part of a list that is asked for.
func (op *operation) page(all []object) object {
	from, to := 0, len(all)
	fmt.Sscanf(text(op.args["endCursor"]), "cursor%d", &from)
	from = max(0, min(from, to))
	if n, ok := op.args["limit"].(float64); ok {
		to = max(from, min(to, from+int(n)))
	}
	c := connection(all[from:to])
	c["totalCount"], c["issueCount"] = len(all), len(all)
	c["pageInfo"] = object{"hasNextPage": to < len(all), "endCursor": fmt.Sprintf("cursor%d", to)}
	return c
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// texts are the texts of a list, in lower case.
func texts(v any) (list []string) {
	all, _ := v.([]any)
	for _, one := range all {
		list = append(list, strings.ToLower(text(one)))
	}
	return list
}

// search finds issues by words in their title and body, and by repo:, author:, is:, in the newest order.
func (g *GitHub) search(q string) (list []*Issue) {
	for _, r := range g.repos {
		for _, i := range slices.Backward(r.issues) {
			if i.fits(strings.Fields(strings.ToLower(q))) {
				list = append(list, i)
			}
		}
	}
	return list
}

func (i *Issue) fits(words []string) bool {
	for _, w := range words {
		key, value, ok := strings.Cut(w, ":")
		value = strings.Trim(value, `"`)
		switch {
		case !ok && !strings.Contains(strings.ToLower(i.Title+" "+i.Body), strings.Trim(w, `"`)),
			key == "repo" && value != strings.ToLower(i.Repository),
			key == "author" && value != i.Author && value != "@me",
			value == "pr" && !i.PullRequest, value == "issue" && i.PullRequest,
			(key == "state" || key == "is") && (value == "open" || value == "closed") && value != strings.ToLower(i.State):
			return false
		}
	}
	return true
}
