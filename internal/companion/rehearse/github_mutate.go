package rehearse

import (
	"cmp"
	"strings"
)

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
