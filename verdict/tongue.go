package verdict

import (
	"regexp"
	"strings"
	"sync"
	"time"
)

// tongue is a language in which services say when to come back.
type tongue struct {
	signs    string // words of a line that says so
	in, at   string // what stands before a duration, and before a moment
	tomorrow string
	english  []string // its words for times, with ours
}

var tongues = []tongue{
	{
		signs: `erneut|wieder|noch ?mal|noch einmal|zurück`, in: `in|nach`, at: `um|ab|gegen|bis|am|nach`, tomorrow: "morgen",
		english: []string{"Tagen", "days", "Tage", "days", "Tag", "day", "Stunden", "hours", "Stunde", "hour", "Minuten", "minutes",
			"Sekunden", "seconds", "Sekunde", "second", " und ", " and ", " Uhr", "", " um ", " at ",
			". Mai", " May", ". Dez", " Dec", ". Okt", " Oct", ". März", " Mar", ". ", " "},
	}, {
		signs: `r[ée]essa[iy]|essayez|réinitialis|renouvel|disponible`, in: `dans|après`, at: `à|après|jusqu'à|le|dès`, tomorrow: "demain",
		english: []string{"jours", "days", "jour", "day", "heures", "hours", "heure", "hour", "secondes", "seconds", "seconde", "second",
			" et ", " and ", " à ", " at ", "février", "Feb", "avril", "Apr", "mai", "May", "juin", "Jun", "juillet", "Jul", "août", "Aug", "décembre", "Dec"},
	}, {
		signs: `de nuevo|nuevamente|reint[eé]n|restablec|disponible`, in: `en|dentro de`, at: `a las?|el|hasta las?`, tomorrow: "mañana",
		english: []string{"días", "days", "día", "day", "horas", "hours", "hora", "hour", "minutos", "minutes", "minuto", "minute",
			"segundos", "seconds", "segundo", "second", " y ", " and ", " a las ", " at ", " a la ", " at ", " de ", " ",
			"enero", "Jan", "abril", "Apr", "agosto", "Aug", "diciembre", "Dec"},
	}, { // Chinese and Japanese: the preposition stands behind
		signs: `重试|再试|重試|再試|重置|重設|重设|恢复|恢復|刷新|リセット|もう一度|再度|再開|お試し|利用可能`,
		english: []string{"日間", "d ", "天", "d ", "小时", "h ", "小時", "h ", "時間", "h ", "分钟", "m ", "分鐘", "m ", "分間", "m ", "分", "m ",
			"秒钟", "s ", "秒鐘", "s ", "秒間", "s ", "秒", "s "},
	},
}

// spoken is a tongue made ready.
type spoken struct {
	signs, in, at *regexp.Regexp
	english       *strings.Replacer
}

var spokenTongues = sync.OnceValue(func() (list []spoken) {
	for _, t := range tongues {
		in := `(?i)(?:^|\s)(?:` + t.in + `)\s+(?:(?:etwa|ca\.|rund|ungefähr|environ|unos|unas)\s+)?(\d)`
		at := `(?i)(?:^|\s)(` + t.tomorrow + `\s+)?(?:` + t.at + `)\s+(\d)`
		if t.in == "" {
			in = `((?:\d+\s*(?:天|日間|小[时時]|時間|分[钟鐘間]?|秒[钟鐘間]?)\s*)+)(?:之|以)?[后後]`
			at = `(午後|下午|晚上)?\s*((?:\d{4}[-/年]\d{1,2}[-/月]\d{1,2}日?)?[ T]?\d{1,2}[:：时時点點]\d{2})`
		}
		list = append(list, spoken{regexp.MustCompile(`(?i)` + t.signs), regexp.MustCompile(in), regexp.MustCompile(at), strings.NewReplacer(t.english...)})
	}
	return list
})

// foreignHint reads "in 30 Sekunden erneut", "réessayez à 15h04", "将在 2026-11-18 05:23:03 重置": of the last line that says
// when to come back, the time that is nearest to the words which say so.
func foreignHint(text string, now time.Time) (found Hint) {
	const most = 16 << 10
	text = text[max(len(text)-most, 0):]
	for _, t := range spokenTongues() {
		if !t.signs.MatchString(text) {
			continue
		}
		for line := range strings.Lines(strings.ReplaceAll(text, `\n`, "\n")) {
			nearest := len(line) + 1
			for _, sign := range t.signs.FindAllStringIndex(line, 16) {
				consider := func(h Hint, ok bool, from int) bool {
					if away := max(from-sign[1], sign[0]-from, 0); ok && away < nearest {
						found, nearest = h, away
					}
					return ok
				}
				for _, m := range t.in.FindAllStringSubmatchIndex(line, 16) {
					h, ok := durationHint(t.english.Replace(piece(line, m[2])))
					consider(h, ok, m[2])
				}
				read := 0
				for _, m := range t.at.FindAllStringSubmatchIndex(line, 16) {
					h, ok := atHint(t.moment(line[max(m[2], 0):max(m[3], 0)], piece(line, m[4])), now)
					if m[4] >= read && consider(h, ok, m[4]) {
						read = m[4] + len("18. September 2026 um ") // what has a date has its time as well
					}
				}
			}
		}
	}
	return found
}

// piece is what may be a time at that place of a line.
func piece(line string, from int) string { return line[from:min(from+2*maxClock, len(line))] }

var (
	// dayFirst finds 18.11.2026 and 18/11/2026, yearFirst 2026年11月18日, and hours 15h04 and 15时04.
	dayFirst  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(\d{1,2})[./](\d{1,2})[./](\d{4}),?`) })
	yearFirst = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(\d{4})[-/年](\d{1,2})[-/月](\d{1,2})日?\s*`) })
	hours     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(\d{1,2})\s?[h：时時点點]\s?(\d\d)?分?`) })
	oneDigit  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(\d)\b`) })
)

// moment writes a moment as English does. before is what stands before it: a day, or half of one.
func (t *spoken) moment(before, s string) string {
	s = hours().ReplaceAllStringFunc(s, func(hour string) string {
		m := hours().FindStringSubmatch(hour)
		return m[1] + ":" + (m[2] + "00")[:2]
	})
	s = dayFirst().ReplaceAllString(s, "$3-$2-$1")
	s = yearFirst().ReplaceAllString(s, "$1-$2-$3 ")
	s = oneDigit().ReplaceAllString(s, "0$1")
	s = strings.NewReplacer("（", " (", "）", ")", "北京时间", "UTC+8", "北京時間", "UTC+8", "日本時間", "JST").Replace(t.english.Replace(s))
	switch {
	case before == "":
		return s
	case strings.HasSuffix(before, " "):
		return "tomorrow at " + s
	}
	end := min(strings.IndexByte(s, ':')+len(":04"), len(s))
	return s[:end] + " pm" + s[end:]
}
