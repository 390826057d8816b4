package retry_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/retry"
)

// The ways in which libraries of the field put a status into their errors.
type (
	methodError  struct{ code int }                  // smithy-go before its v1, many others
	smithyError  struct{ code int }                  // aws-sdk-go-v2
	fieldError   struct{ StatusCode int }            // openai-go, anthropic-sdk-go, azcore
	valueError   struct{ HTTPStatusCode int }        // by value
	waitingError struct{ code, seconds int }         // with a hint
	abuseError   struct{ RetryAfter *time.Duration } // go-github
	laterError   struct {
		StatusCode, Other int
		RetryAfter        time.Duration
	}
	embedding   struct{ *fieldError } // whose field is promoted, and whose pointer may be nil
	stringError struct{ StatusCode string }
	hiddenError struct{ statusCode int }
)

func (e *methodError) Error() string              { return fmt.Sprint("status ", e.code) }
func (e *methodError) StatusCode() int            { return e.code }
func (e *smithyError) Error() string              { return fmt.Sprint("status ", e.code) }
func (e *smithyError) HTTPStatusCode() int        { return e.code }
func (e *fieldError) Error() string               { return "field" }
func (e valueError) Error() string                { return "value" }
func (e *waitingError) Error() string             { return "wait" }
func (e *waitingError) StatusCode() int           { return e.code }
func (e *waitingError) RetryAfter() time.Duration { return time.Duration(e.seconds) * time.Second }
func (e *abuseError) Error() string               { return "abuse" }
func (e *laterError) Error() string               { return "later" }
func (e embedding) Error() string                 { return "embedding" }
func (e stringError) Error() string               { return "string" }
func (e *hiddenError) Error() string              { return fmt.Sprint("hidden ", e.statusCode) }

func TestNetwork_Status(t *testing.T) {
	retried, throttled, permanent := retry.Advice{Retry: true}, retry.Advice{Retry: true, Throttled: true}, retry.Advice{}
	for code, want := range map[int]retry.Advice{
		408: retried, 425: retried, 429: throttled,
		500: retried, 501: retried, 502: retried, 503: retried, 504: retried, 522: retried, 529: retried, 599: retried,
		400: permanent, 401: permanent, 402: permanent, 403: permanent, 404: permanent, 409: permanent, 413: permanent, 422: permanent, 499: permanent,
	} {
		for name, err := range map[string]error{
			"Method": &methodError{code}, "Smithy": &smithyError{code}, "Field": &fieldError{code}, "Value": valueError{code},
			"Wrapped":  fmt.Errorf("list models: %w", &url.Error{Op: "Get", URL: "https://x", Err: &methodError{code}}),
			"Joined":   errors.Join(errors.New("close body"), &fieldError{code}),
			"Promoted": embedding{&fieldError{code}},
			// What the server said goes before what the connection did after that.
			"WithANetworkError": fmt.Errorf("%w (%w)", &methodError{code}, syscall.ECONNRESET),
		} {
			equal(t, fmt.Sprint(code, " ", name), retry.Network(err), want)
			got, ok := retry.Status(err)
			equal(t, fmt.Sprint(code, " ", name, ": status"), got, code)
			equal(t, fmt.Sprint(code, " ", name, ": has a status"), ok, true)
		}
	}
	var none *methodError
	for name, err := range map[string]error{
		"NoStatusYet": &methodError{0}, "NotAnErrorStatus": &methodError{200}, "NoHTTPStatus": &fieldError{1001}, "Text": stringError{"503"},
		"Hidden": &hiddenError{503}, "NilPointer": fmt.Errorf("x: %w", none), "NilEmbedded": embedding{}, "NilError": nil,
	} {
		equal(t, name, retry.Network(err), permanent)
		if code, ok := retry.Status(err); ok {
			t.Errorf("%s: status %d", name, code)
		}
	}
	for name, err := range map[string]error{
		"NoStatus": fmt.Errorf("%w: %w", &methodError{0}, syscall.ECONNRESET),
	} {
		equal(t, name, retry.Network(err), retried)
	}
	for name, err := range map[string]error{
		"OurOwnCancel":     fmt.Errorf("%w: %w", &methodError{503}, context.Canceled),
		"RetriedFurtherIn": &retry.Error{Err: &methodError{503}, Cause: retry.ErrExhausted},
	} {
		equal(t, name, retry.Network(err), permanent)
	}
}

func TestNetwork_RetryAfter(t *testing.T) {
	minute := time.Minute
	for name, tt := range map[string]struct {
		err  error
		want retry.Advice
	}{
		"Throttled":    {&waitingError{429, 17}, retry.Advice{Retry: true, Throttled: true, After: 17 * time.Second}},
		"Unavailable":  {fmt.Errorf("x: %w", &waitingError{503, 3}), retry.Advice{Retry: true, After: 3 * time.Second}},
		"NoHint":       {&waitingError{503, 0}, retry.Advice{Retry: true}},
		"Nonsense":     {&waitingError{503, -5}, retry.Advice{Retry: true}},
		"Permanent":    {&waitingError{403, 60}, retry.Advice{After: time.Minute}}, // for code that reads the error
		"Field":        {&laterError{StatusCode: 429, RetryAfter: minute}, retry.Advice{Retry: true, Throttled: true, After: minute}},
		"OfAnother":    {fmt.Errorf("%w: %w", &fieldError{429}, &abuseError{&minute}), retry.Advice{Retry: true, Throttled: true, After: minute}},
		"NilPointer":   {fmt.Errorf("%w: %w", &fieldError{429}, &abuseError{}), retry.Advice{Retry: true, Throttled: true}},
		"NoStatus":     {&abuseError{&minute}, retry.Advice{After: minute}},
		"NetworkError": {fmt.Errorf("%w: %w", syscall.ECONNRESET, &abuseError{&minute}), retry.Advice{Retry: true, After: minute}},
	} {
		equal(t, name, retry.Network(tt.err), tt.want)
	}
}

// A 429 with a hint, a 529 and a 401, without any Classify.
func TestDo_StatusByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(&waitingError{429, 20}, &fieldError{529}, &fieldError{401})
		_, err := retry.Do(t.Context(), retry.Policy{Jitter: retry.NoJitter}, s.fn)
		stopped(t, err, retry.ErrPermanent)
		equalAll(t, "attempts at", s.at, seconds(0, 20, 22))
	})
}

// Importing retry does not import net/http.
func TestStatus_LinksNoHTTP(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".", "../breaker").Output()
	if err != nil {
		t.Skip(err)
	}
	if deps := strings.Fields(string(out)); slices.Contains(deps, "net/http") || !slices.Contains(deps, "net") {
		t.Errorf("linked: %v", deps)
	}
}
