package rehearse

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// graphql answers a GraphQL request. What a mutation does is done when this returns.
func (g *GitHub) graphql(body []byte) object {
	var q struct {
		Query         string
		OperationName string
		Variables     object
	}
	json.Unmarshal(body, &q)
	document, err := parseQuery(q.Query)
	if err != nil {
		return graphqlError("", err.Error())
	}
	op := document.operations[0]
	for _, other := range document.operations {
		if q.OperationName != "" && other.name == q.OperationName {
			op = other
		}
	}
	r := &run{query: document, variables: object{}}
	for name, value := range op.defaults {
		r.variables[name] = r.literal(value)
	}
	for name, value := range q.Variables {
		r.variables[name] = value
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	root := g.queryRoot()
	if op.kind == "mutation" {
		root = g.mutationRoot()
	}
	for _, s := range op.set { // the validation error that gh and its users see most often
		if _, ok := root[s.name]; !ok && s.name != "" {
			return graphqlError("", fmt.Sprintf("Field '%s' doesn't exist on type '%s'", s.name, strings.ToUpper(op.kind[:1])+op.kind[1:]), op.kind, s.name)
		}
	}
	answer := object{"data": r.object(root, op.set)}
	if len(r.errors) > 0 {
		answer["errors"] = r.errors
	}
	return answer
}

// notFound is the value of a field that does not exist: GitHub's message for it.
type notFound string

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

func (g *GitHub) queryRoot() object {
	return object{
		"viewer":    userNode(githubUser),
		"rateLimit": object{"limit": 5000, "remaining": 4999, "used": 1, "cost": 1},
		"user":      resolver(func(args object) any { return userNode(text(args["login"])) }),
		"organization": resolver(func(args object) any {
			return notFound(fmt.Sprintf("Could not resolve to an Organization with the login of '%s'.", text(args["login"])))
		}),
		"repository": resolver(func(args object) any { return g.repoNode(g.repo(text(args["owner"]) + "/" + text(args["name"]))) }),
		"node": resolver(func(args object) any {
			r, i := g.byID(text(args["id"]))
			switch {
			case i != nil:
				return g.issueNode(i)
			case r != nil:
				return g.repoNode(r)
			}
			return notFound(fmt.Sprintf("Could not resolve to a node with the global id of '%s'", text(args["id"])))
		}),
		"search": resolver(func(args object) any {
			found := connection(g.nodes(g.search(text(args["query"]))))(args).(object)
			found["issueCount"] = found["totalCount"]
			return found
		}),
		"__type":     resolver(func(object) any { return object{"fields": []object{}, "inputFields": []object{}} }),
		"__schema":   object{},
		"__typename": "Query",
	}
}

func userNode(login string) object {
	return object{"__typename": "User", "login": login, "id": "U_" + login, "databaseId": 1, "name": login,
		"projectsV2": connection(nil), "url": "http://" + githubHost + "/" + login}
}

func (g *GitHub) repoNode(r *repository) object {
	owner, name, _ := strings.Cut(r.name, "/")
	node := object{
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
	node["label"] = resolver(func(args object) any { // older versions of gh ask for each label by its name
		for _, l := range labelNodes(r.name, r.labels) {
			if strings.EqualFold(text(l["name"]), text(args["name"])) {
				return l
			}
		}
		return nil
	})
	list := func(pulls bool) resolver {
		return func(args object) any { return connection(g.nodes(r.list(pulls, args)))(args) }
	}
	node["issues"], node["pullRequests"] = list(false), list(true)
	one := func(kind string, fits func(*Issue) bool) resolver {
		return func(args object) any {
			n, _ := number(args["number"])
			if i := r.issue(n); i != nil && fits(i) {
				return g.issueNode(i)
			}
			return notFound(fmt.Sprintf("Could not resolve to an %s with the number of %d.", kind, n))
		}
	}
	node["issue"] = one("Issue", func(i *Issue) bool { return !i.PullRequest })
	node["pullRequest"] = one("PullRequest", func(i *Issue) bool { return i.PullRequest })
	node["issueOrPullRequest"] = one("issue or pull request", func(*Issue) bool { return true })
	return node
}

func labelNodes(repository string, names []string) (list []object) {
	for _, name := range names {
		list = append(list, object{"__typename": "Label", "id": "L_" + repository + "#" + name, "name": name, "color": "ededed", "description": ""})
	}
	return list
}

// list are the issues or the pull requests of a repository that fit what was asked for, the newest first.
func (r *repository) list(pulls bool, args object) (list []*Issue) {
	filter, _ := args["filterBy"].(object)
	states := texts(args["states"])
	if len(states) == 0 {
		states = texts(filter["states"])
	}
	for _, i := range slices.Backward(r.issues) {
		by, head, base := text(filter["createdBy"]), text(args["headRefName"]), text(args["baseRefName"])
		if i.PullRequest == pulls && (len(states) == 0 || slices.Contains(states, strings.ToLower(i.State))) &&
			(by == "" || by == i.Author) && (head == "" || head == i.Head) && (base == "" || base == i.Base) {
			list = append(list, i)
		}
	}
	return list
}

func (g *GitHub) nodes(issues []*Issue) []object {
	list := make([]object, len(issues))
	for n, i := range issues {
		list[n] = g.issueNode(i)
	}
	return list
}

func (g *GitHub) issueNode(i *Issue) object {
	var comments []object
	for n := range i.Comments {
		comments = append(comments, i.commentNode(&i.Comments[n]))
	}
	owner, _, _ := strings.Cut(i.Repository, "/")
	node := object{
		"__typename": "Issue", "id": i.id(), "number": i.Number, "title": i.Title, "body": i.Body, "url": i.url(),
		"state": i.State, "stateReason": nil, "isPinned": false, "closed": i.State == "CLOSED", "author": userNode(i.Author),
		"createdAt": stamp(i.Created), "updatedAt": stamp(i.Created), "closedAt": nil, "milestone": nil,
		"comments": connection(comments), "labels": connection(labelNodes(i.Repository, i.Labels)), "assignees": connection(nil), "assignedActors": connection(nil),
		"projectCards": connection(nil), "projectItems": connection(nil), "reactionGroups": []object{},
		"repository": resolver(func(object) any { return g.repoNode(g.repo(i.Repository)) }),
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

func (i *Issue) commentNode(c *Comment) object {
	return object{"__typename": "IssueComment", "id": fmt.Sprintf("IC_%d", c.ID), "databaseId": c.ID, "body": c.Body, "author": userNode(c.Author),
		"authorAssociation": "OWNER", "createdAt": stamp(c.Created), "includesCreatedEdit": false, "isMinimized": false, "minimizedReason": "",
		"reactionGroups": []object{}, "url": c.url(i), "viewerDidAuthor": c.Author == githubUser}
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
