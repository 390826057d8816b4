package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// Plan is what is to be on GitHub: epics of stories of tasks.
type Plan struct {
	Epics []Node
}

// Node is an epic, a story or a task.
type Node struct {
	Title    string
	Body     string
	Children []Node
}

// kinds are the labels of the levels of a plan.
var kinds = []string{"epic", "story", "task"}

// ReadPlan reads a plan from JSON.
func ReadPlan(r io.Reader) (p Plan, err error) {
	err = json.NewDecoder(r).Decode(&p)
	return p, err
}

// SamplePlan is a plan of that many epics, of stories in each and of tasks in each of those.
func SamplePlan(epics, stories, tasks int) (p Plan) {
	for e := range epics {
		epic := Node{Title: fmt.Sprintf("Epic %d", e+1), Body: "What we want to be able to do."}
		for s := range stories {
			story := Node{Title: fmt.Sprintf("Story %d.%d", e+1, s+1), Body: "Who gets what of it."}
			for t := range tasks {
				story.Children = append(story.Children, Node{Title: fmt.Sprintf("Task %d.%d.%d", e+1, s+1, t+1), Body: "What is to be done."})
			}
			epic.Children = append(epic.Children, story)
		}
		p.Epics = append(p.Epics, epic)
	}
	return p
}
