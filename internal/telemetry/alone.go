package telemetry

import (
	"context"
	"errors"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
)

// Registered is what the registry knows of profiles.
func Registered() Kinds {
	return Kinds{
		Agent: func(name string) bool {
			d := profile.Find(name)
			return d != nil && d.IsAgent()
		},
		Provider: func(name string) string {
			p, err := profile.Bind(name, []string{name}, nil, "")
			if a, ok := p.(agent.Agent); ok && err == nil {
				return a.Info().Provider
			}
			return ""
		},
	}
}

// SendAlone brings the record up to date and sends, unless another process is doing so. It waits for that process and for the receiver for so long;
// the time that the record takes comes on top.
func (s *Sender) SendAlone(ctx context.Context, metrics bool, within time.Duration) (sent Sent, err error) {
	until := time.Now().Add(within)
	turn, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	_, err = s.DB.Outbox.Alone(turn, func() error {
		began := time.Now()
		if _, err := s.DB.Fold(ctx); err != nil {
			return err
		}
		limited, cancel := context.WithDeadline(ctx, until.Add(time.Since(began)))
		defer cancel()
		sent, err = s.Send(limited, metrics)
		return err
	})
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = message.Error("another belayd is still sending; nothing was sent by this one", err)
	}
	return sent, err
}
