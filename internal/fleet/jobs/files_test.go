//go:build unix

package jobs_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/test/must"
)

// left are the directories of jobs that are still there.
func (m *machine) left() []string {
	list, _ := filepath.Glob(filepath.Join(m.dir, "state/fleet/jobs/[0-9]*"))
	return list
}

// Tasks work on the commit that their directory has checked out, on a machine that allows its repository and has no path in common with the submitter.
func TestBatch_FilesByGit(t *testing.T) {
	t.Parallel()
	dsn := fleettest.Database(t)
	ant, bee := newMachine(t, "ant", dsn), newMachine(t, "bee", dsn)
	shared := t.TempDir()
	origin, site := filepath.Join(shared, "site.git"), filepath.Join(ant.dir, "site")
	fleettest.Git(t, shared, "init", "-q", "--bare", "-b", "main", origin)
	fleettest.Git(t, ant.dir, "clone", "-q", origin, site)
	fleettest.Put(t, site, "docs/a.txt", "committed\n")
	fleettest.Git(t, site, "add", ".")
	fleettest.Git(t, site, "commit", "-q", "-m", "first")
	fleettest.Put(t, ant.dir, "tasks.jsonl", `{"id":"a"}
{"id":"b","cwd":"site/docs"}
{"id":"c","depends_on":["a"]}
{"id":"d","cwd":"nowhere","depends_on":["a"]}
`)
	args := []string{"batch", "--fleet", "--files", "git", "--cwd", "site", "tasks.jsonl", "-o", "results.jsonl", "--", "sh", "-c", "basename $PWD; cat docs/a.txt a.txt 2>/dev/null; echo job > docs/a.txt; true"}
	bee.work(2)

	out, code := ant.run(args...)
	if code != 2 || !strings.Contains(out, "is on no branch of origin, as far as is known here. Push it, or use --files archive") || strings.Count(out, "Push it,") != 1 {
		t.Errorf("not pushed: exit code %d: %s", code, out)
	}
	fleettest.Git(t, site, "push", "-q", "origin", "HEAD:main")
	out, code = ant.run(args...)
	if list := readResults(t, filepath.Join(ant.dir, "results.jsonl")); code != 1 || len(list) != 4 || !strings.Contains(list[0].Error, origin+" is not a repository that jobs may use here (allow in [fleet])") {
		t.Fatalf("not allowed: exit code %d: %s\n%+v", code, out, list)
	}

	bee.stop(15)
	bee.allow(`["generic", "` + shared + `"]`)
	bee.work(2)
	out, code = ant.run(append([]string{"batch", "--retry-failed"}, args[1:]...)...)
	got := map[string]line{}
	for _, l := range readResults(t, filepath.Join(ant.dir, "results.jsonl")) {
		got[l.Task] = l
	}
	if code != 1 || got["a"].Result != "work\ncommitted\n" || got["b"].Result != "docs\ncommitted\n" || got["c"].Result != "work\ncommitted\n" {
		t.Errorf("exit code %d: %s\n%+v\n%s", code, out, got, bee.err)
	}
	if d := got["d"]; d.State != "failed" || !strings.Contains(d.Error, "not in a git work tree") {
		t.Errorf("%+v", d)
	}
	if !within(patience, func() bool { return len(bee.left()) == 0 }) {
		t.Errorf("left: %v", bee.left())
	}
}

// share gives machines the key of the fleet, which the first of them makes.
func share(t testing.TB, machines ...*machine) {
	t.Helper()
	if out, code := machines[0].run("fleet", "init"); code != 0 {
		t.Fatal(out)
	}
	key, err := os.ReadFile(filepath.Join(machines[0].dir, "config/belay/fleet.key"))
	must.OK(t, err)
	for _, m := range machines[1:] {
		fleettest.Put(t, m.dir, "config/belay/fleet.key", string(key))
	}
}

// rows are all rows of the fleet's tables. What is binary is there as hexadecimal digits.
func rows(t testing.TB, dsn string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	must.OK(t, err)
	defer conn.Close(context.Background())
	list, err := conn.Query(t.Context(), "select tablename from pg_tables where schemaname = 'belay'")
	must.OK(t, err)
	tables, err := pgx.CollectRows(list, pgx.RowTo[string])
	if err != nil || len(tables) < 15 {
		t.Fatal(tables, err)
	}
	var all strings.Builder
	for _, table := range tables {
		var text string
		must.OK(t, conn.QueryRow(t.Context(), "select coalesce(string_agg(t::text, ' '), '') from belay."+table+" t").Scan(&text))
		all.WriteString(text)
	}
	return all.String()
}

// answer is the answer of PostgreSQL to a question.
type answer struct {
	t   testing.TB
	row pgx.Row
	end func()
}

// ask asks PostgreSQL something.
func ask(t testing.TB, dsn, sql string, args ...any) answer {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	must.OK(t, err)
	return answer{t, conn.QueryRow(t.Context(), sql, args...), func() { conn.Close(context.Background()) }}
}

// Scan is what was answered.
func (a answer) Scan(into ...any) {
	a.t.Helper()
	defer a.end()
	must.OK(a.t, a.row.Scan(into...))
}

// count counts what is left of jobs.
func count(t testing.TB, dsn string) (jobs, archives, parts int) {
	t.Helper()
	ask(t, dsn, "select (select count(*) from belay.job), (select count(*) from belay.archive), (select count(*) from belay.archive_part)").Scan(&jobs, &archives, &parts)
	return jobs, archives, parts
}

// Tasks bring their directory along: it is sent once for all of them, nothing of it can be read in PostgreSQL, and it is gone there and on the machine once the results
// were taken.
func TestBatch_FilesByArchive(t *testing.T) {
	t.Parallel()
	for name, encrypted := range map[string]bool{"Encrypted": true, "Plain": false} {
		t.Run(name, func(t *testing.T) { filesByArchive(t, encrypted) })
	}
}

func filesByArchive(t *testing.T, encrypted bool) {
	dsn := fleettest.Database(t)
	ant, bee := newMachine(t, "ant", dsn), newMachine(t, "bee", dsn)
	if encrypted {
		share(t, ant, bee)
	}
	const marker = "WhatNobodyElseShouldRead"
	hold := filepath.Join(t.TempDir(), "go")
	site := filepath.Join(ant.dir, "site")
	fleettest.Put(t, site, "docs/a.txt", "here\n")
	fleettest.Put(t, site, marker, marker)
	large := make([]byte, 3<<20) // more than one row
	rand.Read(large)
	fleettest.Put(t, site, "large", string(large))
	fleettest.Put(t, site, "run", "#!/bin/sh\ncat docs/a.txt; sha256sum <large\n")
	os.Chmod(filepath.Join(site, "run"), 0o700)
	os.Symlink("/etc", filepath.Join(site, "link"))
	var tasks strings.Builder
	for _, id := range []string{"a", "b", "c"} {
		tasks.WriteString(`{"id":"` + id + `","prompt":"` + marker + `"}` + "\n")
	}
	tasks.WriteString(`{"id":"d","prompt":"later","depends_on":["a","b","c"]}` + "\n")
	fleettest.Put(t, ant.dir, "tasks.jsonl", tasks.String())
	// The results are in the directory that is sent, and change.
	bee.allow(`["generic", "archive"]`)
	bee.work(2)
	batch := ant.start("batch", "--fleet", "--files", "archive", "--cwd", "site", "tasks.jsonl", "-o", "site/results.jsonl", "--", "sh", "-c",
		"while ! test -e "+hold+"; do sleep 0.05; done; echo $(ls -A); ./run; mkdir -p ro/x; chmod 500 ro")
	unpacked := func() []string {
		list, _ := filepath.Glob(filepath.Join(bee.dir, "state/fleet/jobs/*/*/docs/a.txt"))
		return list
	}
	if !within(patience, func() bool { return len(unpacked()) == 2 }) {
		t.Fatalf("%s%s", batch.out, bee.err)
	}
	jobs, archives, parts := count(t, dsn)
	if jobs != 3 || archives != 1 || parts != 4 {
		t.Errorf("%d jobs, %d archives in %d parts", jobs, archives, parts)
	}
	all, readable := rows(t, dsn), hex.EncodeToString([]byte(marker))
	prompt, archive := strings.Contains(all, marker) || strings.Contains(all, readable), strings.Contains(all, `\x701f8b08`) // "p", and how gzip begins
	if prompt == encrypted || archive == encrypted {
		t.Errorf("prompt %v, archive %v can be read in %.3000s", prompt, archive, all)
	}
	// A machine that is killed leaves nothing behind once it is started again.
	if encrypted {
		for _, path := range unpacked() {
			fleettest.Put(t, filepath.Dir(path), "old", "")
		}
		bee.stop(syscall.SIGKILL)
		bee.work(2)
		if !within(patience, func() bool {
			list, _ := filepath.Glob(filepath.Join(bee.dir, "state/fleet/jobs/*/*/docs/old"))
			return len(list) == 0
		}) {
			t.Errorf("left: %v", bee.left())
		}
	}
	fleettest.Put(t, filepath.Dir(hold), "go", "")
	if out, code := batch.wait(); code != 0 || !strings.Contains(out, "links are not sent. Left out of "+site+": link") {
		t.Fatalf("exit code %d: %s%s", code, out, bee.err)
	}
	for _, l := range readResults(t, filepath.Join(site, "results.jsonl")) {
		if l.Result != fmt.Sprintf("%s docs large run\nhere\n%x  -\n", marker, sha256.Sum256(large)) {
			t.Errorf("%+v", l)
		}
	}
	if jobs, archives, parts := count(t, dsn); jobs+archives+parts != 0 {
		t.Errorf("%d jobs, %d archives, %d parts are left", jobs, archives, parts)
	}
	if all := rows(t, dsn); strings.Contains(all, marker) || strings.Contains(all, readable) {
		t.Errorf("left: %.3000s", all)
	}
	if !within(patience, func() bool { return len(bee.left()) == 0 }) {
		t.Errorf("left: %v", bee.left())
	}
	if list, _ := filepath.Glob(filepath.Join(ant.dir, "belay-files-*")); len(list) > 0 {
		t.Errorf("left: %v", list)
	}
	bee.stop(syscall.SIGTERM)
	if list, _ := filepath.Glob(filepath.Join(bee.dir, "state/fleet/archives/*")); len(list) > 0 {
		t.Errorf("left: %v", list)
	}
}

// What is in PostgreSQL may be written by others, where the fleet encrypts nothing: an archive that was exchanged is noticed, and one that is made to lead elsewhere
// is not unpacked.
func TestBatch_EvilArchive(t *testing.T) {
	dsn := fleettest.Database(t)
	ant, bee := newMachine(t, "ant", dsn), newMachine(t, "bee", dsn)
	fleettest.Put(t, ant.dir, "tasks.jsonl", "{\"id\":\"a\",\"cwd\":\"one\"}\n{\"id\":\"b\",\"cwd\":\"two\"}\n")
	fleettest.Put(t, ant.dir, "one/a", "1")
	fleettest.Put(t, ant.dir, "two/a", "2")
	batch := ant.start("batch", "--fleet", "--files", "archive", "tasks.jsonl", "-o", "results.jsonl", "--", "cat", "a")
	if !within(patience, func() bool { jobs, _, _ := count(t, dsn); return jobs == 2 }) {
		t.Fatal(batch.out)
	}
	var evil bytes.Buffer
	zip := gzip.NewWriter(&evil)
	w := tar.NewWriter(zip)
	w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "a", Mode: 0o600, Size: 1})
	w.Write([]byte("3"))
	w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "up", Linkname: "../.."})
	w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "up/evil", Mode: 0o600})
	w.Close()
	zip.Close()
	name, data := fmt.Sprintf("%x", sha256.Sum256(evil.Bytes())), append([]byte("p"), evil.Bytes()...)
	ask(t, dsn, "insert into belay.archive (batch, name) select batch, $1 from belay.job where task = 'b' returning 1", name).Scan(new(int))
	ask(t, dsn, "insert into belay.archive_part (batch, name, n, data) select batch, $1, 0, $2 from belay.job where task = 'b' returning 1", name, data).Scan(new(int))
	ask(t, dsn, "update belay.job set archive = $1, payload = convert_to(replace(convert_from(payload, 'UTF8'), archive, $1), 'UTF8') where task = 'b' returning 1", name).Scan(new(int))
	ask(t, dsn, "update belay.archive_part p set data = $1 from belay.job j where j.task = 'a' and p.batch = j.batch and p.name = j.archive returning 1", data).Scan(new(int))
	bee.allow(`["generic", "archive"]`)
	bee.work(1)
	batch.wait()
	got := map[string]line{}
	for _, l := range readResults(t, filepath.Join(ant.dir, "results.jsonl")) {
		got[l.Task] = l
	}
	if l := got["a"]; l.State != "failed" || !strings.Contains(l.Error, "the files of the job are gone, or were changed") {
		t.Errorf("%+v", l)
	}
	if l := got["b"]; l.State != "failed" || !strings.Contains(l.Error, `cannot be unpacked: "up" is not allowed`) {
		t.Errorf("%+v", l)
	}
	filepath.WalkDir(bee.dir, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.Name() == "evil" {
			t.Errorf("%s was made", path)
		}
		return nil
	})
	if !within(patience, func() bool { return len(bee.left()) == 0 }) {
		t.Errorf("left: %v", bee.left())
	}
}

// Between two tasks that run one after the other no job needs their files, which are still sent once.
func TestBatch_FilesOneAfterTheOther(t *testing.T) {
	dsn := fleettest.Database(t)
	ant, bee := newMachine(t, "ant", dsn), newMachine(t, "bee", dsn)
	bee.allow(`["generic", "archive"]`)
	bee.work(1)
	fleettest.Put(t, ant.dir, "tasks.txt", "1\n2\n3\n")
	fleettest.Put(t, ant.dir, "site/a", "here\n")
	if out, code := ant.run("batch", "--fleet", "-j", "1", "--files", "archive", "--cwd", "site", "tasks.txt", "--", "cat", "a", "-"); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, out, bee.err)
	}
	sent := 0
	if !within(patience, func() bool { // PostgreSQL counts a little later
		ask(t, dsn, "select n_tup_ins from pg_stat_user_tables where schemaname = 'belay' and relname = 'archive_part'").Scan(&sent)
		return sent > 0
	}) || sent > 2 { // a worker that tidies up between two of the tasks has it sent once more
		t.Errorf("sent %d times", sent)
	}
	if jobs, archives, parts := count(t, dsn); jobs+archives+parts != 0 {
		t.Errorf("%d jobs, %d archives, %d parts are left", jobs, archives, parts)
	}
}
