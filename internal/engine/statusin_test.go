package engine

import (
	"testing"
)

func TestStatusIn(t *testing.T) {
	for text, want := range map[string]int{
		"HTTP 429": 429, "gh: Not Found (HTTP 404)": 404, "HTTP/1.1 503 Service Unavailable": 503, "HTTP/2 502": 502,
		"API Error: 529 {\"type\":\"error\"}":          529,
		"unexpected status 401 Unauthorized: no":       401,
		"exceeded retry limit, last status: 429 Too …": 429,
		"status code 500":                              500,
		"api_error_status 529":                         529,
		"The requested URL returned error: 503":        503,
		`{"error":{"code":429,"status":"EXHAUSTED"}}`:  429,
		`"status": "404"`:                              404,
		"HTTP 500, then HTTP 503":                      503,
		"exited 1":                                     0, "exit code 127": 0, "error 500000": 0, "no answer": 0, "": 0, "HTTP 200": 0, "429": 0, "line 404 of the file": 0,
		"took 500 ms": 0, "HTTP 4290": 0, "statusbar 404": 0, "unicode 404": 0,
	} {
		if got := statusIn(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
