package rehearse

import (
	"cmp"
	"fmt"
	"strings"
)

// mutationRoot are the changes that can be made.
func (g *GitHub) mutationRoot() object {
	input := func(do func(in object) any) resolver {
		return func(args object) any {
			in, _ := args["input"].(object)
			return do(in)
		}
	}
	onIssue := func(idField string, do func(in object, i *Issue) any) resolver {
		return input(func(in object) any {
			_, i := g.byID(text(in[idField]))
			if i == nil {
				return notFound(fmt.Sprintf("Could not resolve to a node with the global id of '%s'", text(in[idField])))
			}
			return do(in, i)
		})
	}
	state := func(idField, to string) resolver {
		return onIssue(idField, func(_ object, i *Issue) any {
			i.State = to
			return object{"issue": g.issueNode(i), "pullRequest": g.issueNode(i)}
		})
	}
	edit := func(idField string) resolver {
		return onIssue(idField, func(in object, i *Issue) any {
			i.Title, i.Body = cmp.Or(text(in["title"]), i.Title), cmp.Or(text(in["body"]), i.Body)
			if ids, ok := in["labelIds"]; ok {
				i.Labels = labelNames(ids)
			}
			return object{"issue": g.issueNode(i), "pullRequest": g.issueNode(i), "clientMutationId": ""}
		})
	}
	return object{
		"createIssue": input(func(in object) any {
			r, _ := g.byID(text(in["repositoryId"]))
			if r == nil {
				return notFound("Could not resolve to a node with the global id of '" + text(in["repositoryId"]) + "'")
			}
			return object{"issue": g.issueNode(g.create(r, Issue{Title: text(in["title"]), Body: text(in["body"]), Labels: labelNames(in["labelIds"])}))}
		}),
		"createPullRequest": input(func(in object) any {
			r, _ := g.byID(text(in["repositoryId"]))
			if r == nil {
				return notFound("Could not resolve to a node with the global id of '" + text(in["repositoryId"]) + "'")
			}
			i := g.create(r, Issue{Title: text(in["title"]), Body: text(in["body"]), PullRequest: true, Head: text(in["headRefName"]), Base: text(in["baseRefName"])})
			return object{"pullRequest": g.issueNode(i)}
		}),
		"addComment": onIssue("subjectId", func(in object, i *Issue) any {
			c := g.comment(i, text(in["body"]))
			return object{"commentEdge": object{"node": i.commentNode(&c)}, "subject": g.issueNode(i)}
		}),
		"addLabelsToLabelable": onIssue("labelableId", func(in object, i *Issue) any {
			i.Labels = append(i.Labels, labelNames(in["labelIds"])...)
			return object{"clientMutationId": "", "__typename": "AddLabelsToLabelablePayload"}
		}),
		"replaceActorsForAssignable": onIssue("assignableId", func(object, *Issue) any { return object{"__typename": "ReplaceActorsForAssignablePayload"} }),

		"updateIssue": edit("id"), "updatePullRequest": edit("pullRequestId"),
		"closeIssue": state("issueId", "CLOSED"), "reopenIssue": state("issueId", "OPEN"),
		"closePullRequest": state("pullRequestId", "CLOSED"), "reopenPullRequest": state("pullRequestId", "OPEN"),
	}
}

func labelNames(ids any) (names []string) {
	list, _ := ids.([]any)
	for _, id := range list {
		_, name, _ := strings.Cut(text(id), "#")
		names = append(names, name)
	}
	return names
}
