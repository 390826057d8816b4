package rehearse

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// gemini is the stand-in for the Gemini API, which gemini talks to.
type gemini struct{}

func (gemini) name() string { return "google" }

func (gemini) claims(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/v1beta/") || strings.HasPrefix(r.URL.Path, "/v1/models/") && strings.Contains(r.URL.Path, ":")
}

func (gemini) read(r *http.Request, body []byte) call {
	var q struct {
		Contents []struct {
			Role  string `json:"role"`
			Parts []struct {
				Text     string `json:"text"`
				Response *struct {
					Response json.RawMessage `json:"response"`
				} `json:"functionResponse"`
			} `json:"parts"`
		} `json:"contents"`
		Tools []struct {
			Functions []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
	}
	json.Unmarshal(body, &q) // what is not understood is not there
	path, method, _ := strings.Cut(r.URL.Path, ":")
	c := call{model: path[strings.LastIndexByte(path, '/')+1:], stream: method == "streamGenerateContent"}
	for _, t := range q.Tools {
		for _, f := range t.Functions {
			c.tools = append(c.tools, f.Name)
		}
	}
	for _, content := range q.Contents {
		for _, part := range content.Parts {
			switch {
			case content.Role == "user" && part.Text != "":
				c.last = part.Text
			case part.Response != nil:
				c.last = string(part.Response.Response)
			}
		}
	}
	// What is not a stream is asked on the side: which model is to have the request, who is to speak next.
	c.main = r.Method == http.MethodPost && c.stream
	return c
}

func (gemini) good(c *call, s *Step, n int) reply {
	var e events
	add := func(parts []object, last bool) {
		candidate := object{"content": object{"role": "model", "parts": parts}, "index": 0}
		chunk := object{"candidates": []object{candidate}, "modelVersion": c.model, "responseId": fmt.Sprintf("rehearsal%04d", n)}
		if last {
			candidate["finishReason"] = cmp.Or(s.Stop, "STOP")
			chunk["usageMetadata"] = geminiUsage(s.charged())
		}
		e.chunks = append(e.chunks, geminiEvent(chunk))
	}
	e.mark(AtStart)
	if text := s.text(); text != "" {
		e.words(text, func(piece string) { add([]object{{"text": piece}}, false) })
		e.mark(AfterBlock)
	}
	if s.Tool != "" {
		e.mark(InText)
		add(slices.Repeat([]object{{"functionCall": s.geminiTool()}}, max(s.Calls, 1)), false)
		e.mark(AfterBlock)
	}
	add([]object{{"text": ""}}, true)
	rep := e.reply()
	rep.usage = s.charged()
	return rep
}

// geminiEvent is an event as the API ends them.
func geminiEvent(value any) []byte { return fmt.Appendf(nil, "data: %s\r\n\r\n", encode(value)) }

// geminiTool is the call of a function.
func (s *Step) geminiTool() object {
	if strings.EqualFold(s.Tool, "bash") {
		return object{"name": "run_shell_command", "args": object{"command": s.ToolInput, "description": "rehearsed"}}
	}
	var arguments any = object{"input": s.ToolInput}
	if json.Valid([]byte(s.ToolInput)) {
		arguments = json.RawMessage(s.ToolInput)
	}
	return object{"name": s.Tool, "args": arguments}
}

func geminiUsage(u Usage) object {
	input := u.Input + u.CacheRead + u.CacheCreate // which counts the cached ones too
	usage := object{"promptTokenCount": input, "candidatesTokenCount": u.Output, "totalTokenCount": input + u.Output}
	if u.CacheRead > 0 {
		usage["cachedContentTokenCount"] = u.CacheRead
	}
	return usage
}

// geminiAside is an answer to whatever gemini asks on the side: how hard a request is, who is to speak next.
const geminiAside = `{"reasoning":"rehearsed","model_choice":"flash","complexity_reasoning":"rehearsed","complexity_score":10,"next_speaker":"user"}`

func (gemini) side(c *call) reply {
	switch {
	case strings.HasSuffix(c.r.URL.Path, ":countTokens"):
		return jsonReply(http.StatusOK, object{"totalTokens": 10})
	case strings.HasSuffix(c.r.URL.Path, ":generateContent"):
		return jsonReply(http.StatusOK, object{"modelVersion": c.model, "usageMetadata": geminiUsage(Usage{}),
			"candidates": []object{{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []object{{"text": geminiAside}}}}}})
	}
	return jsonReply(http.StatusNotFound, geminiError(c, &Step{}, http.StatusNotFound))
}

// geminiErrors are the names and messages that go with a status.
var geminiErrors = map[int][2]string{
	400: {"INVALID_ARGUMENT", "Request contains an invalid argument."},
	401: {"UNAUTHENTICATED", "Request had invalid authentication credentials."},
	402: {"FAILED_PRECONDITION", "Payment required."},
	403: {"PERMISSION_DENIED", "The caller does not have permission"},
	404: {"NOT_FOUND", "Requested entity was not found."},
	413: {"INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."},
	429: {"RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."},
	500: {"INTERNAL", "An internal error has occurred."},
	503: {"UNAVAILABLE", "The service is currently unavailable."},
	504: {"DEADLINE_EXCEEDED", "Deadline expired before operation could complete."},
}

const (
	geminiOverloaded = "The model is overloaded. Please try again later."
	geminiUsedUp     = "You have exhausted your capacity on this model. Your quota will reset after %v."
)

// geminiError is the body of an error.
func geminiError(c *call, s *Step, status int) object {
	known := geminiErrors[status]
	message := known[1]
	if status == http.StatusNotFound && c.model != "" {
		message = fmt.Sprintf("models/%s is not found for API version v1beta, or is not supported for generateContent.", c.model)
	}
	body := object{"code": status, "message": cmp.Or(s.Message, message, http.StatusText(status), "error"), "status": cmp.Or(s.Type, known[0], "UNKNOWN")}
	var details []object
	if s.Code != "" {
		details = append(details, geminiReason(s.Code, "googleapis.com"))
	}
	switch {
	case s.RetryAfter.Date:
		details = append(details, geminiDelay(s.RetryAfter.In))
	case s.RetryAfter.Seconds != "":
		details = append(details, object{"@type": retryInfo, "retryDelay": s.RetryAfter.Seconds + "s"})
	}
	if details != nil {
		body["details"] = details
	}
	return object{"error": body}
}

const retryInfo = "type.googleapis.com/google.rpc.RetryInfo"

// geminiDelay says when to come back: the API has no header for that.
func geminiDelay(d time.Duration) object {
	return object{"@type": retryInfo, "retryDelay": fmt.Sprintf("%gs", d.Round(time.Second).Seconds())}
}

func geminiReason(reason, domain string) object {
	return object{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": domain}
}

func (gemini) fail(c *call, s *Step, n int) reply {
	status, coded := s.Status, *s
	left := time.Until(s.resetTime()).Truncate(time.Second) + time.Second
	switch {
	case s.Overloaded:
		status, coded.Message = http.StatusServiceUnavailable, cmp.Or(s.Message, geminiOverloaded)
	case s.UsageLimit: // as the service behind a login says it
		status, coded.Message = http.StatusTooManyRequests, cmp.Or(s.Message, fmt.Sprintf(geminiUsedUp, left))
	}
	body := geminiError(c, &coded, status)
	if s.UsageLimit {
		body["error"].(object)["details"] = []object{geminiReason("QUOTA_EXHAUSTED", "cloudcode-pa.googleapis.com"), geminiDelay(left)}
	}
	return jsonReply(status, body)
}

func (gemini) failInside(c *call, s *Step, _ int) []byte {
	status, coded := http.StatusInternalServerError, *s
	if s.Cut == CutOverloaded {
		status, coded.Message = http.StatusServiceUnavailable, cmp.Or(s.Message, geminiOverloaded)
	}
	return geminiEvent(geminiError(c, &coded, status))
}
