package browser_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/belay-run/belay/browser"
)

// hostile is what a command, a name or an error could be that wants to be read as something else.
const hostile = `<script>window.pwned=1</script><img src=x onerror="window.pwned=1">"'>` + "\x1b[31m"

// world is a state directory with what real rehearsals have left in it, and a log with hostile fields.
type world struct {
	*testing.T
	belay, dir string
	env        []string
}

func newWorld(t *testing.T) *world {
	bin := os.Getenv("BELAY_TEST_BIN")
	if bin == "" {
		bin = t.TempDir()
		build := exec.Command("go", "build", "-o", bin, "./cmd/belay", "./cmd/belayd")
		build.Dir = ".."
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	bin, err := filepath.Abs(bin)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, belay: filepath.Join(bin, "belay"), dir: t.TempDir()}
	w.env = append(os.Environ(), "BELAY_STATE_DIR="+filepath.Join(w.dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(w.dir, "config"), "TZ=UTC", "BELAY_FOLD=off")
	return w
}

// rehearsal is a real agent that runs against stand-ins; nil if the agent is not there.
func (w *world) rehearsal(script string, args ...string) *exec.Cmd {
	clis := os.Getenv("BELAY_TEST_CLIS")
	if clis == "" {
		clis, _ = filepath.Abs("../.clis")
	}
	words := strings.Fields(args[len(args)-1])
	found, _ := filepath.Glob(filepath.Join(clis, words[0]+"-*"))
	if len(found) == 0 {
		if os.Getenv("CI") != "" {
			w.Fatalf("no agent in %s", clis)
		}
		w.Logf("no agent in %s: its rehearsal is left out", clis)
		return nil
	}
	args = append([]string{"rehearse", "--dir", w.dir, "--script", script}, args[:len(args)-1]...)
	cmd := exec.Command(w.belay, append(append(args, "--", filepath.Join(found[len(found)-1], words[0])), words[1:]...)...)
	cmd.Env, cmd.Dir = w.env, w.dir
	return cmd
}

// rehearse runs one, whatever comes of it.
func (w *world) rehearse(script string, args ...string) {
	cmd := w.rehearsal(script, args...)
	if cmd == nil {
		return
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		if _, ended := err.(*exec.ExitError); !ended {
			w.Fatalf("%v\n%s", err, out)
		}
	}
}

// log appends a line to the log.
func (w *world) log(entry map[string]any) {
	data, err := json.Marshal(entry)
	if err != nil {
		w.Fatal(err)
	}
	os.MkdirAll(filepath.Join(w.dir, "state"), 0o700)
	f, err := os.OpenFile(filepath.Join(w.dir, "state", "log.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(append(data, '\n')); err != nil {
		w.Fatal(err)
	}
}

// start runs belay and does not wait for it.
func (w *world) start(args ...string) {
	cmd := exec.Command(w.belay, args...)
	cmd.Env, cmd.Dir = w.env, w.dir
	w.startCommand(cmd)
}

func (w *world) startCommand(cmd *exec.Cmd) {
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	w.Cleanup(func() {
		select {
		case <-done:
		default:
			cmd.Process.Signal(os.Interrupt)
			<-done
		}
	})
}

// await waits for a file that matches a pattern.
func (w *world) await(pattern string) {
	w.Helper()
	pattern = filepath.Join(w.dir, pattern)
	for late := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if list, _ := filepath.Glob(pattern); len(list) > 0 {
			return
		}
		if time.Now().After(late) {
			w.Fatalf("there is no %s", pattern)
		}
	}
}

// textFields are the fields of a run's line in the log that are texts, as the code has them: one that is added is tried too.
func textFields(t *testing.T) (list []string) {
	t.Helper()
	code, err := os.ReadFile("../internal/journal/entry.go")
	if err != nil {
		t.Fatal(err)
	}
	_, entry, _ := strings.Cut(string(code), "type Entry struct {")
	entry, _, _ = strings.Cut(entry, "\n}\n")
	for _, field := range regexp.MustCompile("\\sstring\\s+`json:\"(\\w+)").FindAllStringSubmatch(entry, -1) {
		if field[1] != "event" { // which a run has not
			list = append(list, field[1])
		}
	}
	if len(list) < 12 {
		t.Fatalf("the log has the texts %q", list)
	}
	return list
}

// axe is axe-core, which finds what keeps people from using a page; empty if it could not be had.
func axe(t *testing.T) string {
	data, err := os.ReadFile("../.tools/axe-4.14.0/axe.min.js")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Log("without axe-core, which scripts/setup-tests installs")
	}
	return string(data)
}

func at(ago time.Duration) string {
	return time.Now().Add(-ago).UTC().Format("2006-01-02T15:04:05.000Z")
}

// The whole page in a real browser, in one go: a browser takes seconds to start.
func TestPage(t *testing.T) {
	if browser.Chromium() == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no Chromium; scripts/setup-tests installs it")
		}
		t.Skip("there is no Chromium; scripts/setup-tests installs it")
	}
	w := newWorld(t)
	w.rehearse("401", "--name", "review", "codex exec hi")
	for i, class := range []string{"network", "auth", "overloaded", "rate_limit"} {
		w.log(map[string]any{"timestamp": at(time.Duration(i+1) * 20 * time.Hour), "invocation": fmt.Sprintf("made-000%d", i), "profile": "claude", "command": "claude", "attempt": 1, "status": "error",
			"error_type": class, "error": "it failed", "exit_code": 1, "response_time": 2.5, "model": "opus", "first_token": 1.2, "usage": map[string]any{"input_tokens": 1000, "output_tokens": 50, "total_cost_usd": 0.25}})
	}
	for _, id := range []string{"made-hostile", "made-" + hostile} {
		line := map[string]any{"tags": map[string]string{"team": hostile, hostile: "x"}, "tools": []map[string]any{{"name": hostile, "count": 1, "time": 1}}, "tool_calls": []map[string]any{{"name": hostile, "start": 0, "time": 1}}}
		for _, field := range textFields(t) {
			line[field] = hostile
		}
		for field, value := range map[string]any{"timestamp": at(time.Minute), "invocation": id, "project": "/" + hostile, "attempt": 1, "status": "error", "error_type": "unknown", "exit_code": 1, "response_time": 1} {
			line[field] = value
		}
		w.log(line)
	}
	w.log(map[string]any{"timestamp": at(time.Minute), "kind": "hook", "event": "crash", "profile": "hook:" + hostile, "command": hostile, "status": "error", "error_type": "crash", "error": hostile})
	w.log(map[string]any{"timestamp": at(time.Minute), "kind": "alert", "event": "raised", "profile": hostile, "error": hostile, "detail": map[string]any{"failures": 5, "within_s": 600}})
	w.log(map[string]any{"timestamp": at(time.Minute), "kind": "audit", "event": "gate_hold", "gate": hostile, "status": "success", "detail": map[string]any{"reason": hostile}})

	quota, err := json.Marshal(map[string]any{"v": 1, "key": hostile + strings.Repeat("x", 300), "state": map[string]any{"quota": []map[string]any{
		{"name": "five_hour", "used": 0.84, "resets": at(-time.Hour), "told": at(0), "trail": []map[string]any{{"at": at(time.Hour), "used": 0.5}}}, {"name": hostile[:8] + strings.Repeat("W", 56), "used": 999, "resets": at(-time.Hour), "told": at(0)}}}})
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Join(w.dir, "state", "gates"), 0o700), os.WriteFile(filepath.Join(w.dir, "state", "gates", "x.json"), quota, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}

	tasks := filepath.Join(w.dir, "tasks.txt")
	if err := os.WriteFile(tasks, []byte("one\ntwo\n<script>window.pwned=1</script>\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	batched := exec.Command(w.belay, "batch", tasks, "-o", filepath.Join(w.dir, "answers.jsonl"), "--", "sh", "-c", `[ "$0" != two ] || [ -e repaired ] || { echo "<img src=x onerror=window.pwned=1>" >&2; exit 3; }`, "{}")
	batched.Env, batched.Dir = w.env, w.dir
	if out, err := batched.CombinedOutput(); err == nil {
		t.Fatalf("no task has failed: %s", out)
	}

	site, err := browser.Serve(w.belay, w.env)
	if err != nil {
		t.Fatal(err)
	}
	defer site.Stop()
	tab, end := browser.Open(t.Context())
	defer end()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	value := func(js string) (text string) {
		t.Helper()
		check(chromedp.Run(tab, chromedp.Evaluate(js, &text)))
		return text
	}
	open := func(query string) {
		t.Helper()
		check(tab.Go(site.Origin() + "/?" + query))
		check(tab.Until(query, `document.querySelector("main h1") && !document.querySelector("[data-loading]") && document.querySelector("#live .live")`))
	}
	says := func(text string) {
		t.Helper()
		check(tab.Until(text, fmt.Sprintf("document.querySelector('main').innerText.includes(%q)", text)))
	}

	check(tab.Go(site.Address))
	check(tab.Until("entered", `document.querySelector("#live .live")`))
	if where := value("location.href"); strings.Contains(where, "token") {
		t.Errorf("the token is still in the address: %s", where)
	}
	for _, text := range []string{"Nothing is running", "five_hour", "84 % used", "forecast: full at about "} {
		says(text)
	}

	// Live, without a reload: a mark that is set now is still there at the end. That the server tells of it within a second is asserted by
	// TestFeed_TellsWithinASecond, in fake time; here it is only logged. Cancelled by a button.
	value("window.mark = 'set'")
	unchanged := func() {
		t.Helper()
		if value("String(window.mark)") != "set" {
			t.Error("the page has loaded itself again")
		}
	}
	w.start("run", "--name", "sleeper", "--tag", "why=<img src=x onerror=window.pwned=1>", "--", "sleep", "60")
	w.await("state/runs/*")
	begun := time.Now()
	says("sleeper")
	says("why=<img src=x")
	says("Story") // no output is offered of what is no agent
	t.Logf("a new run is seen after %v", time.Since(begun).Round(time.Millisecond))
	unchanged()
	check(chromedp.Run(tab, chromedp.Click(`[data-act=cancel]`), chromedp.WaitVisible(`dialog[open]`), chromedp.Click(`dialog .primary`)))
	says("Nothing is running")

	// A gate is held and reset.
	check(chromedp.Run(tab, chromedp.Click(`[data-act=hold]`), chromedp.WaitVisible(`dialog[open]`), chromedp.SendKeys(`dialog [name=key]`, "api"), chromedp.SendKeys(`dialog [name=reason]`, "maintenance <img src=x onerror=window.pwned=1>"), chromedp.Click(`dialog .primary`)))
	says("maintenance <img")
	check(chromedp.Run(tab, chromedp.Click(`[data-gate=api] [data-act=reset]`), chromedp.WaitVisible(`dialog[open]`), chromedp.Click(`dialog .primary`)))
	check(tab.Until("reset", `!document.querySelector("[data-gate=api]")`))

	// What a real agent has printed last is shown, and what it prints until it ends, as text.
	answered := filepath.Join(w.dir, "answered")
	if agent := w.rehearsal(`429(retry-after=1), tool(bash: until [ -e `+answered+` ]; do sleep 0.1; done), 200(text="hello <img src=x onerror=window.pwned=1>", in=1200, out=80)`,
		"--name", "nightly", "--tag", "team=web", "claude -p hi --allowedTools Bash"); agent != nil {
		w.startCommand(agent)
		check(tab.Until("an agent", `document.querySelector("[data-run] .push a")?.innerText === "Output"`))
		check(chromedp.Run(tab, chromedp.Click(`[data-run] .push a`)))
		check(tab.Until("its tool", `document.querySelector("pre.output")?.innerText.includes("Bash until [ -e ")`))
		if where := value(`document.querySelector("nav [aria-current]").innerText + document.querySelector(".crumbs a").innerText`); where != "NowNow" {
			t.Errorf("a live run is under %s", where)
		}
		check(os.WriteFile(answered, nil, 0o600))
		check(tab.Until("its end", `[...document.querySelectorAll("dt")].some((e) => e.textContent === "Ended")`)) // what was drawn since then has not taken the output away
		for _, text := range []string{"hello <img src=x onerror=window.pwned=1>", "The run has ended."} {
			check(tab.Until(text, fmt.Sprintf(`document.querySelector("pre.output")?.innerText.includes(%q)`, text)))
		}
		if said := value(`document.querySelector("pre.output").innerText`); strings.Contains(said, "stream_event") || strings.Contains(said, "system init") {
			t.Errorf("its output is for programs:\n%s", said)
		}
		if same := value(`(() => { const of = (e) => getComputedStyle(e).background; const track = of(document.querySelector(".lane")); const all = [...document.querySelectorAll(".key i:not(.idle)")].map(of);
			return all.includes(track) || new Set(all).size < all.length || of(document.querySelector(".lane .tool")) !== of(document.querySelector(".key .tool")) ? [track, ...all].join("\n") : ""; })()`); same != "" {
			t.Errorf("the colours of the legend are those of the track, or of each other: %s", same)
		}
		if value("String(window.pwned)") != "undefined" {
			t.Error("what an agent prints was taken for HTML")
		}
		if left, _ := filepath.Glob(filepath.Join(w.dir, "state/looks/*")); len(left) > 0 {
			t.Errorf("its sockets are left: %v", left)
		}
	}

	// Filters are in the address, and survive a reload.
	open("view=past")
	says("it failed")
	check(chromedp.Run(tab, chromedp.Evaluate(`(() => { const s = document.querySelector("select[name=class]"); s.value = "auth"; s.dispatchEvent(new Event("change", {bubbles: true})); })()`, nil)))
	check(tab.Until("filtered", `location.search.includes("class=auth") && [...document.querySelectorAll("tbody .badge")].every((b) => b.textContent === "authentication failed")`))
	check(chromedp.Run(tab, chromedp.Reload()))
	check(tab.Until("after a reload", `document.querySelector("select[name=class]")?.value === "auth" && document.querySelector("tbody .badge") && [...document.querySelectorAll("tbody .badge")].every((b) => b.textContent === "authentication failed")`))
	check(chromedp.Run(tab, chromedp.NavigateBack()))

	open("view=batches")
	for _, text := range []string{"answers.jsonl", "2 of 3 done", "sh exited 3", "belay batch --retry-failed"} {
		says(text)
	}

	// Failed tasks run again by a button, which asks first, and the page tells what came of it.
	repaired := filepath.Join(w.dir, "repaired")
	press := func(said string) {
		t.Helper()
		check(chromedp.Run(tab, chromedp.Click(`[data-act=retry]`), chromedp.WaitVisible(`dialog[open]`), chromedp.Click(`dialog .primary`)))
		check(tab.Until(said, fmt.Sprintf(`document.getElementById("toast").innerText.includes(%q)`, said)))
	}
	check(os.Rename(tasks, tasks+".away"))
	press("tasks.txt: no such file")
	check(os.Rename(tasks+".away", tasks))
	check(os.WriteFile(repaired, nil, 0o600))
	press("running 1 failed task of answers.jsonl again")
	says("3 of 3 done")

	// A batch appears when it is started, and changes as its tasks do.
	release := filepath.Join(w.dir, "release")
	w.start("batch", "-j", "1", "--name", "slow", tasks, "-o", filepath.Join(w.dir, "slow<img src=x>.jsonl"), "--", "sh", "-c", `[ "$0" = one ] || while [ ! -e `+release+` ]; do sleep 0.1; done`, "{}")
	value("window.mark = 'set'")
	slow := `document.querySelector("[data-batch^='slow']")?.innerText`
	check(tab.Until("a running batch", slow+`?.includes("1 of 3 done") && `+slow+`.includes("1 running")`))
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	begun = time.Now()
	check(tab.Until("a batch that is over", slow+`?.includes("3 of 3 done") && !`+slow+`.includes("running")`))
	t.Logf("the end of a batch is seen after %v", time.Since(begun).Round(time.Millisecond))
	unchanged()

	// Every view, in every size and scheme: nothing is wider than the screen, nothing keeps people out, nothing recorded was taken for HTML.
	script := axe(t)
	shots := os.Getenv("BELAY_TEST_SHOTS")
	looks := 0
	look := func(name string) {
		t.Helper()
		looks++
		for _, size := range []struct {
			width int64
			dark  bool
		}{{1440, false}, {1440, true}, {1024, true}, {1024, false}, {390, true}, {390, false}} {
			check(tab.Size(size.width, 900, size.dark))
			var wide int64
			check(chromedp.Run(tab, chromedp.Evaluate(`document.documentElement.scrollWidth`, &wide)))
			if wide > size.width {
				t.Errorf("%s is %d wide on a screen of %d", name, wide, size.width)
			}
			if found := value(cut); found != "" {
				t.Errorf("%s at %d, text is cut:\n%s", name, size.width, found)
			}
			// What axe looks for costs a third of a second: every second view is dark, unless all are tried both ways.
			if script != "" && (size.width == 1440) != size.dark && size.width != 1024 && (size.dark == (looks%2 == 0) || os.Getenv("BELAY_TEST_FULL") != "") {
				if found := violations(t, tab, script); found != "" {
					t.Errorf("%s, %+v:\n%s", name, size, found)
				}
			}
			if shots != "" {
				check(tab.Picture(filepath.Join(shots, fmt.Sprintf("%s-%d-%v.png", strings.NewReplacer("&", "-", "=", "-").Replace(name), size.width, size.dark)), true))
			}
		}
		if found := value(mouseOnly); found != "" {
			t.Errorf("%s, only a mouse gets to:\n%s", name, found)
		}
		if value("String(window.pwned) + document.querySelectorAll('main script, main img').length") != "undefined0" {
			t.Errorf("%s has taken what is on record for HTML", name)
		}
	}
	for _, query := range []string{"view=now", "view=batches", "view=batch&results=" + url.QueryEscape(filepath.Join(w.dir, "answers.jsonl")), "view=past", "view=past&q=" + url.QueryEscape("IT FAILED") + "&sort=-cost", "view=past&tab=sessions", "view=past&tab=alerts", "view=past&tab=audit", "view=run&id=made-hostile", "view=run&id=made-" + url.QueryEscape(hostile), "view=spend", "view=spend&by=name&show=tokens", "view=health"} {
		open(query)
		look(query)
	}

	open("view=run&id=none")
	says("not found")

	// The report shows the same from a file, and loads nothing.
	report := filepath.Join(w.dir, "report.html")
	cmd := exec.Command(w.belay, "report", "--since", "all", "-o", report)
	cmd.Env = w.env
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	asked := len(tab.Requests())
	check(tab.Size(1440, 900, false))
	check(tab.Go("file://" + report))
	check(tab.Until("the report", `document.querySelectorAll("main .part").length === 5`))
	for _, text := range []string{"it failed", "nightly", "Why attempts failed", "opus"} {
		says(text)
	}
	look("report")
	for _, address := range tab.Requests()[asked:] {
		if address != "file://"+report && !strings.HasPrefix(address, "data:") {
			t.Errorf("the report asked for %s", address)
		}
	}
	check(tab.Size(1440, 900, false))
	for _, address := range tab.Requests()[:asked] {
		if u, err := url.Parse(address); err != nil || u.Scheme != "data" && !strings.HasPrefix(address, site.Origin()+"/") {
			t.Errorf("it asked for %s", address)
		}
	}
	refused := func(text string) bool {
		return strings.Contains(text, "409 (Conflict)") && strings.Contains(text, "/api/batch/retry") || strings.Contains(text, "404 (Not Found)") && strings.Contains(text, "id=none")
	} // which were tried above
	if said := slices.DeleteFunc(tab.Said(), refused); len(said) > 0 {
		t.Errorf("the browser complains: %q", said)
	}
}

// violations are what axe-core finds. It is put in by the browser, not by the page, whose policy would not have it.
func violations(t *testing.T, tab *browser.Tab, script string) string {
	t.Helper()
	var found string
	err := chromedp.Run(tab, chromedp.Evaluate(script+"; true", nil), chromedp.Evaluate(`axe.run(document, {resultTypes: ["violations"]}).then((r) =>
		r.violations.map((v) => v.id + ": " + v.help + "\n" + v.nodes.slice(0, 3).map((n) => "    " + n.html.slice(0, 160) + " " + n.failureSummary).join("\n")).join("\n"))`, &found, awaited))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// cut finds text that is off the screen, that a box around it cuts, or that is over other text of an axis. What is cut by its own reader, such as a list of choices,
// is left out.
const cut = `(() => {
	const found = [];
	const say = (n, why) => found.push(n.data.trim().slice(0, 60) + ": " + why);
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; n = walk.nextNode();) {
		const el = n.parentElement;
		if (!n.data.trim() || el.closest(".unseen, .skip, select, script, style, noscript") || !el.checkVisibility({visibilityProperty: true})) continue;
		const range = document.createRange();
		range.selectNodeContents(n);
		for (const r of range.getClientRects()) {
			if (r.width < 1) continue;
			let why = r.left < -1 || r.right > innerWidth + 1 ? "off the screen" : "";
			for (let box = el; box && box !== document.body && !why; box = box.parentElement) {
				const s = getComputedStyle(box), b = box.getBoundingClientRect();
				if (s.overflowX !== "visible" && (r.left < b.left - 1 || r.right > b.right + 1)) why = "cut by <" + box.tagName + " class=" + box.className + ">";
				if (/hidden|clip/.test(s.overflowY) && (r.top < b.top - 2 || r.bottom > b.bottom + 2)) why = "cut below by <" + box.tagName + " class=" + box.className + ">";
			}
			if (why) { say(n, why); break; }
		}
	}
	for (const axis of document.querySelectorAll(".xs, .ys, .ruler")) {
		const marks = [...axis.children].filter((e) => e.checkVisibility({visibilityProperty: true})).map((e) => [e.firstChild, e.getBoundingClientRect()]).filter(([n]) => n);
		marks.forEach(([n, a], i) => marks.slice(i + 1).forEach(([, b]) => { if (a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2) say(n, "under another mark"); }));
	}
	return found.slice(0, 12).join("\n");
})()`

// mouseOnly finds what leads somewhere and has no link to the same place in it, or beside it in the table of a chart, and what can be used but not reached.
const mouseOnly = `(() => {
	const lost = [...document.querySelectorAll("[data-href]")].filter((e) => ![...(e.closest("figure") || e).querySelectorAll("a")].some((a) => a.getAttribute("href") === e.dataset.href));
	const out = [...document.querySelectorAll("main a[href], main button, main select, main input, main summary")].filter((e) => e.tabIndex < 0);
	return [...lost, ...out].map((e) => e.outerHTML.slice(0, 200)).join("\n");
})()`
