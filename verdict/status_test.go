package verdict_test

import (
	"testing"

	"github.com/belay-run/belay/verdict"
)

func TestOfStatus(t *testing.T) {
	for status, want := range map[int]verdict.Class{
		400: verdict.InvalidRequest, 401: verdict.Auth, 402: verdict.Billing, 403: verdict.Auth, 404: verdict.NotFound, 407: verdict.Auth,
		408: verdict.ServerError, 410: verdict.NotFound, 413: verdict.TooLarge, 418: verdict.InvalidRequest, 422: verdict.InvalidRequest,
		425: verdict.ServerError, 429: verdict.RateLimit, 451: verdict.Refused, 500: verdict.ServerError, 503: verdict.ServerError,
		504: verdict.ServerError, 511: verdict.Auth, 529: verdict.Overloaded, 200: verdict.Unknown, 302: verdict.Unknown, 0: verdict.Unknown, 600: verdict.Unknown,
	} {
		if got := verdict.OfStatus(status, "no such thing"); got != want {
			t.Errorf("%d: %s, want %s", status, got, want)
		}
	}
	for _, text := range []string{"Overloaded", "the model is at capacity"} {
		if got := verdict.OfStatus(503, text); got != verdict.Overloaded {
			t.Errorf("503 %s: %s", text, got)
		}
	}
}
