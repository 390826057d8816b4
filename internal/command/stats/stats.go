// Package stats is belay stats: what was run and spent, added up.
package stats

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
)

// Run is belay stats.
func Run(ctx context.Context, r *request.Request) (int, error) {
	return question.Answer(ctx, r, answer)
}

func answer(ctx context.Context, q *question.Question) error {
	by, asCSV := q.Text("by"), q.On("csv")
	if asCSV && q.JSON {
		return &request.UsageError{Err: message.Error(message.NotTogether("--csv", "--json"))}
	}
	var groups []record.Group
	if by != "" {
		group, err := record.ParseGroup(by)
		if err != nil {
			return &request.UsageError{Err: fmt.Errorf("--by: %w", err)}
		}
		if group == record.ByMachine && !q.On("fleet") {
			return &request.UsageError{Err: message.Error(message.NeedsFleet("--by machine"))}
		}
		groups = []record.Group{group}
	} else {
		groups = []record.Group{record.ByDay, record.ByModel, record.ByProfile, record.ByClass} // what was spent comes first
		if q.On("fleet") && q.Filter.Machine == "" {
			groups = slices.Insert(groups, 1, record.ByMachine)
		}
		if asCSV || q.JSON {
			groups = groups[:1]
		}
	}
	for i, group := range groups {
		list, total, err := q.DB.Stats.Groups(ctx, q.Filter, group, q.Now.Location())
		if err != nil {
			return err
		}
		switch {
		case asCSV:
			err = writeCSV(q, group, list, total)
		case q.JSON:
			err = writeJSON(q, group, list, total)
		default:
			err = writeText(q, group, list, total, i == 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// figuresJSON is a group for programs. Fields are only ever added.
type figuresJSON struct {
	record.Figures
	Rate *float64 `json:"success_rate"` // null if none has ended
}

func asJSON(f record.Figures) figuresJSON {
	j := figuresJSON{Figures: f}
	if f.Invocations > 0 {
		rate := f.Rate()
		j.Rate = &rate
	}
	return j
}

func writeJSON(q *question.Question, by record.Group, list []record.Figures, total record.Figures) error {
	groups := []figuresJSON{}
	for _, f := range list {
		groups = append(groups, asJSON(f))
	}
	total.Key = "total"
	return term.JSON(q.Out, struct {
		SchemaVersion int           `json:"schema_version"`
		Since         *time.Time    `json:"since"`
		Until         *time.Time    `json:"until"`
		Zone          string        `json:"zone"`
		By            record.Group  `json:"by"`
		Groups        []figuresJSON `json:"groups"`
		Total         figuresJSON   `json:"total"`
	}{1, bound(q.Filter.Since), bound(q.Filter.Until), q.Now.Format("-07:00"), by, groups, asJSON(total)})
}

// bound is a time for JSON; null for none.
func bound(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC())
}

func writeCSV(q *question.Question, by record.Group, list []record.Figures, total record.Figures) error {
	var b strings.Builder
	w := csv.NewWriter(&b)
	figures := record.InCSV(total)
	row := []string{string(by)}
	for _, c := range figures {
		row = append(row, c.CSV)
	}
	w.Write(row)
	for _, f := range list {
		row := []string{printable.Line(f.Key)}
		for _, c := range figures {
			n, ok := c.Count(f)
			switch {
			case ok:
				row = append(row, strconv.FormatInt(n, 10))
			case f.Usage.CostUSD == nil:
				row = append(row, "")
			default:
				row = append(row, strconv.FormatFloat(*f.Usage.Rounded().CostUSD, 'f', -1, 64))
			}
		}
		w.Write(row)
	}
	w.Flush()
	return errors.Join(w.Error(), term.Text(q.Out, b.String()))
}
