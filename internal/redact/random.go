package redact

import "strings"

// measured takes a long random word that begins at i.
func (c *scanner) measured(i int) int {
	if i < c.word {
		return i
	}
	s := c.s
	from := i
	for from > c.floor && (s[from-1] == '/' || s[from-1] == '+' || s[from-1] == '~') { // the first character of a key, or of a path
		from--
	}
	j := i
	for j < len(s) && inLongWord(s[j]) {
		j++
	}
	c.word = j
	text := strings.TrimRight(s[from:j], ".-/~")
	end := from + len(text)
	for end < len(s) && s[end] == '=' && end < from+len(text)+2 { // padding
		end++
	}
	switch {
	case isSum(s[:from]), len(text) < minCut:
		return i
	case len(text) < minRandom && !(cutOff(s[j:]) && isRandomCut(text)), len(text) >= minRandom && !isRandom(text):
		return i
	}
	return c.take(max(from, c.floor), end)
}

// minRandom is the length of the shortest word that is judged by its letters alone, and minCut of one that was cut off.
const minRandom, minCut = 20, 12

func inLongWord(b byte) bool {
	return isAlnum(b) || b == '_' || b == '-' || b == '+' || b == '/' || b == '.' || b == '~'
}

// isRandom reports whether a long word was drawn and not written: its letters, digits and capitals follow each other as no
// written word's do. Hashes, UUIDs, ids and paths count as written.
func isRandom(text string) bool {
	cost, pairs, longest := wordCost(text)
	if longest < 6 || pairs < 12 || isID(text) || isPath(text) {
		return false
	}
	return cost*100 >= limitOf(pairs)*pairs && distinct(text) >= minDistinct
}

// isRandomCut is isRandom for the beginning of a word that was cut off. It takes more to be sure of a short one.
func isRandomCut(text string) bool {
	cost, pairs, longest := wordCost(text)
	return longest >= 6 && pairs >= 8 && cost*100 >= 570*pairs && distinct(text) >= minDistinct && !isID(text) && !isPath(text)
}

// wordCost is what the pairs of a word cost, how many there are, and how long its longest part is. Hashes do not count.
func wordCost(text string) (cost, pairs, longest int) {
	for _, part := range parts(text) {
		longest = max(longest, len(part))
		if !isHash(part) {
			c, n := partCost(part)
			cost, pairs = cost+c, pairs+n
		}
	}
	return cost, pairs, longest
}

// limitOf is what a pair of a random word costs on average at least, in hundredths of a bit, by the number of pairs. The mean is
// 6.8 for letters and digits of either case, 5.8 for small letters alone, and 3.8 for written words, of which one in a hundred
// is above 4.8. The longer a word, the nearer it is to its mean.
func limitOf(pairs int) int {
	switch {
	case pairs < 18:
		return 510
	case pairs < 24:
		return 495
	case pairs < 36:
		return 485
	}
	return 480
}

// minDistinct is how many different letters and digits a random word has at least; a ruler of the same character is none.
const minDistinct = 8

// distinct is how many different letters and digits a word has.
func distinct(text string) (n int) {
	var seen [128]bool
	for i := range len(text) {
		if b := text[i]; isAlnum(b) && !seen[b] {
			seen[b] = true
			n++
		}
	}
	return n
}

// parts are the runs of letters and digits in a word.
func parts(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r >= 0x80 || !isAlnum(byte(r)) })
}

// partCost is how unlikely it is that the letters of a part follow each other in a written word, in bits, and how many pairs
// there are. Beside the letters it counts how often they change: between letters and digits more than twice, to a capital
// behind one or two small letters.
func partCost(part string) (cost, pairs int) {
	changes, low := 0, 0
	for i := range len(part) {
		b := part[i]
		if i > 0 {
			a := part[i-1]
			bits := int(letterPairs[symbol(a)*27+symbol(b)] - '0')
			switch {
			case isDigit(a) && isDigit(b):
				if changes < 2 || numberLength(part, i) > 4 {
					bits = 1
				} else {
					bits = 5
				}
			case isDigit(a) != isDigit(b):
				if changes++; changes > 2 {
					bits += 3
				}
			case isUpper(b) && low > 0 && low < 3:
				bits += 3
			case isLower(a) && isUpper(b):
				bits = max(bits, 4)
			}
			cost += bits
			pairs++
		}
		if isLower(b) {
			low++
		} else {
			low = 0
		}
	}
	return cost, pairs
}

// numberLength is how many digits there are around i.
func numberLength(part string, i int) int {
	from, to := i, i
	for from > 0 && isDigit(part[from-1]) {
		from--
	}
	for to < len(part) && isDigit(part[to]) {
		to++
	}
	return to - from
}

func symbol(b byte) int {
	if isDigit(b) {
		return 26
	}
	return int(b|0x20) - 'a'
}

// letterPairs has the cost of each pair of letters, the first one choosing the row: the negative logarithm of how often the second
// follows the first in the words of Go's sources and documentation. All digits are one letter, the last.
const letterPairs = "" +
	"754386595973449593336576797" + // a
	"365636783593674674473778485" + // b
	"375647636934572695546589795" + // c
	"465426773895565664465666793" + // d
	"464465586995537563347664896" + // e
	"475654783993563694444878694" + // f
	"565626653985643694456779984" + // g
	"266627773985473695545779786" + // h
	"664455598994424595439596956" + // i
	"465536665646553686364767775" + // j
	"465626564985556585465778793" + // k
	"476426773973772686555678687" + // l
	"256437884986574397564788896" + // m
	"474335385966664697426589897" + // n
	"464475696965435393544557997" + // o
	"275537765974574583445778795" + // p
	"665577787985377544572667773" + // q
	"375526583956563694445678696" + // r
	"575637744955675576424868596" + // s
	"475626753995674583455778584" + // t
	"545645684994437474449786973" + // u
	"364525674995476365456656975" + // v
	"365535753996444683466676985" + // w
	"465656875996675486436465692" + // x
	"565655775985346285337668765" + // y
	"565616764886775786677665644" + // z
	"676766887986689798777595990" // 0

// isHash reports whether a word is hexadecimal and no number, as the hashes of commits and files and the parts of a UUID are.
func isHash(part string) bool {
	part = strings.TrimPrefix(part, "0x")
	if len(part) < 7 {
		return false
	}
	lower, capital := false, false
	for i := range len(part) {
		b := part[i]
		if !isHex(b) {
			return false
		}
		lower = lower || isLower(b)
		capital = capital || isUpper(b)
	}
	return !(lower && capital)
}

// idPrefixes begin the ids of requests, messages and files, and checksums: services print them so that one can ask about them.
var idPrefixes = []string{"req_", "msg_", "prt_", "toolu_", "srvtoolu_", "mcptoolu_", "chatcmpl-", "cmpl-", "resp_", "call_", "run_", "thread_", "session_", "sess_", "ses_", "item_", "rs_", "fc_",
	"ws_", "file-", "file_", "asst_", "batch_", "msgbatch_", "step_", "evt_", "cus_", "pi_", "sub_", "acct_", "prod_", "price_", "org-", "org_", "proj_", "user-", "user_", "cse_", "container_",
	"cntr_", "skill_", "wrkspc_", "sha1-", "sha256-", "sha384-", "sha512-", "sha256=", "sha512=", "gen-", "ig_", "mcp_", "conv_", "prompt_", "ftjob-", "vs_", "exec_", "I_kw", "PR_kw", "R_kg", "MDQ6", "U_kg",
	"IC_kw", "PRR_kw", "D_kw", "O_kg", "RE_kw", "BOT_kg", "PVT_kw", "IT_kw", "LA_kw"}

// isID reports whether a word is the id of something, or its checksum, and not a credential: a UUID, a hash, an id with a
// known prefix, a GitHub node id.
func isID(text string) bool {
	return beginsWithAny(text, idPrefixes) || IsUUID(text)
}

// isSum reports whether a checksum stands behind a text: as in go.sum, of an image, of an SSH key.
func isSum(before string) bool {
	return endsWithAny(before, []string{"h1:", "sha256:", "sha512:", "SHA256:"})
}

// IsUUID reports whether a text is a UUID.
func IsUUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if text[i] != '-' {
				return false
			}
		} else if !isHex(text[i]) {
			return false
		}
	}
	return true
}

// roots begin absolute paths, and those of the user.
var roots = []string{"~/", "/home/", "/usr/", "/var/", "/tmp/", "/etc/", "/opt/", "/root/", "/Users/", "/private/", "/nix/", "/proc/", "/sys/", "/dev/", "/mnt/", "/run/", "/srv/", "/lib/", "/app/",
	"/workspace/", "/workspaces/", "/builds/", "/github/", "/snap/", "/data/", "/Library/", "/Applications/", "/System/", "/Volumes/", "/bin/", "/boot/", "/media/", "/code/", "/src/", "/repo/"}

// isPath reports whether a word is an absolute path, whose parts may have any names.
func isPath(text string) bool {
	return text != "" && (text[0] == '/' || text[0] == '~') && beginsWithAny(text, roots)
}
