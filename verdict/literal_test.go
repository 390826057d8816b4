package verdict

import (
	"regexp"
	"slices"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

func TestAnalyse(t *testing.T) {
	tests := []struct {
		expr     string
		literals []string
		oneLine  bool
	}{
		{"rate limit", []string{"rate limit"}, true},
		{"Rate.?Limit", []string{"limit"}, true},
		{"too many|rate limit", []string{"too many", "rate limit"}, true},
		{"(?:api )?(rate limit)+", []string{"rate limit"}, true},
		{"(?:rate limit){2,}", []string{"rate limit"}, true},
		{"(?:rate limit)*", nil, true},
		{"(?:rate limit){0,2}", nil, true},
		{"rate limit|5\\d\\d", nil, true},
		{"it’s overloaded", []string{"s overloaded"}, true},
		{"5[0-9]{2}", nil, true},
		{"a|b", nil, true},
		{"429,\\s+status", []string{"status"}, false},
		{"429[^,]status", []string{"status"}, false},
		{"(?s)rate.limit", []string{"limit"}, false},
		{"rate\nlimit", []string{"rate\nlimit"}, false},
		{"limit\\z", []string{"limit"}, false},
		{"\\Alimit", []string{"limit"}, false},
		{"^limit$", []string{"limit"}, true},
		{"aaa1|bbb2|ccc3|ddd4|eee5|fff6|ggg7|hhh8|iii9|jjj10|kkk11|lll12|mmm13|nnn14|ooo15|ppp16|qqq17", nil, true},
	}
	for _, test := range tests {
		t.Run(test.expr, func(t *testing.T) {
			got, err := analyse("(?im)" + test.expr)
			must.OK(t, err)
			if !slices.Equal(got.anyOf, test.literals) || got.oneLine != test.oneLine {
				t.Errorf("got %q, %v, want %q, %v", got.anyOf, got.oneLine, test.literals, test.oneLine)
			}
		})
	}
}

func TestAnalyse_AllOf(t *testing.T) {
	for expr, want := range map[string][]string{
		`status:? 429\b`:        {"status", " 429"},
		`(rate) (?:limit)+`:     {"rate", "limit"},
		`a.?limit|limit.?a`:     nil,
		`limit(?: of)?(?:xy)*x`: {"limit"},
	} {
		got, err := analyse("(?im)" + expr)
		if err != nil || !slices.Equal(got.allOf, want) {
			t.Errorf("%s: got %q, %v, want %q", expr, got.allOf, err, want)
		}
	}
}

// Looking for literals first must not change what matches.
func FuzzFind(f *testing.F) {
	f.Add("rate limit|too many", "RATE LIMIT")
	f.Add("^limit: \\d+$", "limit: x\nlimit: 5\n")
	f.Add("session", "ſeſſion")
	f.Add("key", "\u212aey")
	f.Add("a\\sb|cde", "xa\nbx")
	f.Add("it's", "it’s")
	f.Fuzz(func(t *testing.T, match, text string) {
		r, err := compile(Rule{Class: Unknown, Match: match}, 1)
		if err != nil || r.re == nil {
			return
		}
		s := &stream{excerpt: ExcerptOf(text)}
		s.prepare()
		want := regexp.MustCompile("(?im)" + straightenQuotes(match)).MatchString(s.straight)
		at := r.find(s)
		if got := at >= 0; got != want {
			t.Fatalf("%q in %q: got %v, want %v", match, text, got, want)
		}
		if at >= 0 && straightenQuotes(s.plain[:originalOffset(s.plain, at)]) != s.straight[:at] {
			t.Errorf("%q in %q: the place %d is lost", match, text, at)
		}
	})
}
