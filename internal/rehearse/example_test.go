package rehearse_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/belay-run/belay/internal/rehearse"
)

// An API that throttles once. Here a plain client asks; a real CLI does so with API.Environ in its environment.
func ExampleStart() {
	api, err := rehearse.Start("429(retry-after=2), 200")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer api.Close()
	for range 2 {
		body := strings.NewReader(`{"model": "m", "messages": [{"role": "user", "content": "hi"}]}`)
		answer, err := http.Post(api.URL()+"/v1/messages", "application/json", body)
		if err != nil {
			fmt.Println(err)
			return
		}
		answer.Body.Close()
		fmt.Printf("%d %q\n", answer.StatusCode, answer.Header.Get("Retry-After"))
	}
	for _, r := range api.Main() {
		fmt.Println(r.Step, r.Usage.Input, "tokens in")
	}
	// Output:
	// 429 "2"
	// 200 ""
	// 429(retry-after=2) 0 tokens in
	// 200 10 tokens in
}
