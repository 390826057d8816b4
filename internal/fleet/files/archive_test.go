package files

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/test/must"
)

// tree are the files below a directory: name, mode and content.
func tree(t testing.TB, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		text := ""
		if info.Mode().IsRegular() {
			data, _ := os.ReadFile(path)
			text = string(data)
		}
		list = append(list, fmt.Sprintf("%s %s %s", info.Mode(), name, text))
		return nil
	})
	must.OK(t, err)
	slices.Sort(list)
	return list
}

func TestPack_AndUnpack(t *testing.T) {
	dir := t.TempDir()
	fleettest.Put(t, dir, "a.txt", "one")
	fleettest.Put(t, dir, "docs/deep/b.txt", "two")
	fleettest.Put(t, dir, "results.jsonl", "{}")
	fleettest.Put(t, dir, "results.jsonl.state", "{}")
	fleettest.Put(t, dir, ".git/config", "[core]\nfsmonitor = evil\n")
	fleettest.Put(t, dir, "inner/.git/config", "[core]\n")
	os.Mkdir(filepath.Join(dir, "empty"), 0o700)
	os.WriteFile(filepath.Join(dir, "run"), []byte("#!/bin/sh\n"), 0o700)
	os.Symlink("/etc/passwd", filepath.Join(dir, "link"))
	then := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	os.Chtimes(filepath.Join(dir, "a.txt"), then, then)
	except := []string{filepath.Join(dir, "results.jsonl"), filepath.Join(dir, "results.jsonl.state")}
	packed, left, err := Pack(t.Context(), dir, except)
	if err != nil || len(left) != 1 || left[0] != "link" {
		t.Fatal(left, err)
	}
	again, _, err := Pack(t.Context(), dir, except)
	if err != nil || !bytes.Equal(packed, again) {
		t.Error("the same files make another archive: ", err)
	}
	to := t.TempDir()
	must.OK(t, Unpack(t.Context(), bytes.NewReader(packed), to))
	want := []string{"-rw------- a.txt one", "-rw------- docs/deep/b.txt two", "-rwx------ run #!/bin/sh\n", "drwx------ docs ", "drwx------ docs/deep ", "drwx------ empty ", "drwx------ inner "}
	if got := tree(t, to); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if info, err := os.Stat(filepath.Join(to, "a.txt")); err != nil || !info.ModTime().Equal(then) {
		t.Error(info.ModTime(), err)
	}
}

// In a git work tree what is ignored stays where it is.
func TestPack_GitWorkTree(t *testing.T) {
	dir, _ := clone(t)
	fleettest.Put(t, dir, ".gitignore", "secret.env\nbuild/\n")
	fleettest.Put(t, dir, "secret.env", "TOKEN=x")
	fleettest.Put(t, dir, "build/out", "x")
	fleettest.Put(t, dir, "new.txt", "new")
	fleettest.Put(t, dir, "a.txt", "changed")
	os.Remove(filepath.Join(dir, "docs/b.txt"))
	packed, left, err := Pack(t.Context(), dir, nil)
	if err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
	to := t.TempDir()
	must.OK(t, Unpack(t.Context(), bytes.NewReader(packed), to))
	if got, want := tree(t, to), []string{"-rw------- .gitignore secret.env\nbuild/\n", "-rw------- a.txt changed", "-rw------- new.txt new"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	// A directory that is ignored as a whole was named on purpose.
	packed, _, err = Pack(t.Context(), filepath.Join(dir, "build"), nil)
	to = t.TempDir()
	if err == nil {
		err = Unpack(t.Context(), bytes.NewReader(packed), to)
	}
	if got := tree(t, to); err != nil || len(got) != 1 {
		t.Errorf("%q, %v", got, err)
	}
}

// Where git fails, it is not known what is ignored. Packing everything would have sent the secrets.
func TestPack_GitFails(t *testing.T) {
	dir, _ := clone(t)
	fleettest.Put(t, dir, ".gitignore", "secret.env\n")
	fleettest.Put(t, dir, "secret.env", "TOKEN=x")
	fleettest.Put(t, dir, ".git/index", "damaged")
	if _, _, err := Pack(t.Context(), filepath.Join(dir, "docs"), nil); err == nil || !strings.Contains(err.Error(), "git ls-files ended with exit code 128") {
		t.Errorf("a damaged index: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, _, err := Pack(t.Context(), filepath.Join(dir, "docs"), nil); err == nil || !strings.Contains(err.Error(), "git was not found") {
		t.Errorf("without git: %v", err)
	}
	outside := t.TempDir()
	fleettest.Put(t, outside, "a.txt", "one")
	if _, _, err := Pack(t.Context(), outside, nil); err != nil {
		t.Errorf("without git, in no repository: %v", err)
	}
}

func TestPack_TooLarge(t *testing.T) {
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "large"))
	if err == nil {
		err = file.Truncate(maxUnpacked + 1)
	}
	must.OK(t, err)
	file.Close()
	if _, _, err := Pack(t.Context(), dir, nil); err == nil || !strings.Contains(err.Error(), "at most 32 MiB, 256 MiB unpacked, and 50000 files") {
		t.Error(err)
	}
}

// entry is a part of an archive that may be evil.
type entry struct {
	header tar.Header
	text   string
}

func archive(entries ...entry) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		e.header.Size = int64(len(e.text))
		if e.header.Mode == 0 {
			e.header.Mode = 0o644
		}
		if err := w.WriteHeader(&e.header); err != nil {
			panic(err)
		}
		io.WriteString(w, e.text)
	}
	w.Close()
	return out.Bytes()
}

func zipped(data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(data)
	w.Close()
	return out.Bytes()
}

func file(name, text string) entry {
	return entry{tar.Header{Typeflag: tar.TypeReg, Name: name}, text}
}

// evil are archives that must be refused.
func evil() map[string][]byte {
	link := func(kind byte, name, to string) entry {
		return entry{tar.Header{Typeflag: kind, Name: name, Linkname: to}, ""}
	}
	return map[string][]byte{
		"upward":                     archive(file("../evil", "x")),
		"upward later":               archive(file("a/../../evil", "x")),
		"absolute":                   archive(file("/tmp/evil", "x")),
		"a detour":                   archive(file("a/./b", "x")),
		"two slashes":                archive(file("a//b", "x")),
		"no name":                    archive(file("", "x")),
		"itself":                     archive(file(".", "x")),
		"a link":                     archive(link(tar.TypeSymlink, "a", "/etc")),
		"a link that is used":        archive(link(tar.TypeSymlink, "a", ".."), file("a/evil", "x")),
		"a hard link":                archive(link(tar.TypeLink, "a", "/etc/passwd")),
		"a device":                   archive(entry{tar.Header{Typeflag: tar.TypeChar, Name: "a", Devmajor: 1, Devminor: 3}, ""}),
		"a block device":             archive(entry{tar.Header{Typeflag: tar.TypeBlock, Name: "a"}, ""}),
		"a pipe":                     archive(link(tar.TypeFifo, "a", "")),
		"twice":                      archive(file("a", "x"), file("a", "y")),
		"a file and a directory":     archive(file("a", "x"), file("a/b", "y")),
		"a directory and a file":     archive(file("a/b", "x"), file("a", "y")),
		"a repository's directory":   archive(file(".git/config", "x")),
		"as others write it":         archive(file("a/.GIT/config", "x")),
		"as Windows reads it":        archive(file("git~1/config", "x")),
		"too many files":             archive(file("a", ""), file("b", ""), file("c", ""), file("d", ""), file("e", ""), file("f", "")),
		"too many directories":       archive(file("a/b/c/d/e/f", "")),
		"too large":                  archive(file("a", strings.Repeat("x", 100)), file("b", strings.Repeat("x", 1000))),
		"a name that is too long":    archive(file(strings.Repeat("a", 300), "")),
		"cut off":                    archive(file("a", strings.Repeat("x", 1000)))[:700],
		"not an archive":             []byte(strings.Repeat("evil", 500)),
		"a further kind, vendor's":   archive(entry{tar.Header{Typeflag: 'Z', Name: "a"}, ""}),
		"a directory that is a link": archive(link(tar.TypeSymlink, "a/", "/etc")),
	}
}

// small are the limits of these tests.
func small() *unpacker { return &unpacker{bytes: 1000, entries: 5, steps: 20} }

func TestUnpack_Evil(t *testing.T) {
	for name, data := range evil() {
		parent := t.TempDir()
		dir := filepath.Join(parent, "a", "work")
		os.MkdirAll(dir, 0o700)
		err := small().unpack(t.Context(), bytes.NewReader(data), dir)
		if err == nil {
			t.Errorf("%s: unpacked %q", name, tree(t, dir))
		}
		checkTree(t, parent, dir)
	}
	if err := Unpack(t.Context(), bytes.NewReader([]byte("not packed")), t.TempDir()); err == nil {
		t.Error("what is not packed is unpacked")
	}
}

// A small archive that becomes large when it is unpacked ends at the limit. That of a real one, 256 MiB, takes half a minute of CPU, and is tried in make test-full.
func TestUnpack_Bomb(t *testing.T) {
	const few = 1 << 20
	limit, unpack := int64(few), (&unpacker{bytes: few, entries: 5, steps: 20}).unzip
	if os.Getenv("BELAY_TEST_FULL") != "" {
		limit, unpack = maxUnpacked, Unpack
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	size := limit + 1<<20
	w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "a", Mode: 0o600, Size: size})
	zeros := make([]byte, 1<<20)
	for range size >> 20 {
		w.Write(zeros)
	}
	w.Close()
	zip.Close()
	dir := t.TempDir()
	if err := unpack(t.Context(), &out, dir); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "a")); err != nil || info.Size() > limit+1 {
		t.Error(info.Size(), err)
	}
}

// Directories far below each other end at a limit too: each entry costs a walk through all above it. 300 times 1,000 of them took 34 s of CPU until there
// were too many.
func TestUnpack_Deep(t *testing.T) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	name := ""
	for i := range 1000 {
		if i%200 == 0 {
			name = fmt.Sprint(i)
		}
		w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o700})
		name += "/d"
	}
	w.Close()
	for steps, fits := range map[int]bool{5 * 200 * 201 / 2: true, 5*200*201/2 - 1: false} {
		dir := t.TempDir()
		err := (&unpacker{bytes: 1000, entries: 1000, steps: steps}).unpack(t.Context(), bytes.NewReader(out.Bytes()), dir)
		if fits != (err == nil) || !fits && !strings.Contains(err.Error(), "too large") {
			t.Errorf("%d steps: %v", steps, err)
		}
	}
	// One file deep below takes one walk, not one for each directory above it.
	deep := archive(file(strings.Repeat("d/", 400)+"x", "text"))
	if err := (&unpacker{bytes: 1000, entries: 500, steps: 401}).unpack(t.Context(), bytes.NewReader(deep), t.TempDir()); err != nil {
		t.Error(err)
	}
}

// A mode with rights for others, or with those of the file's owner for all, is not kept.
func TestUnpack_Mode(t *testing.T) {
	dir := t.TempDir()
	e := file("a", "x")
	e.header.Mode = 0o6777
	must.OK(t, small().unpack(t.Context(), bytes.NewReader(archive(e)), dir))
	if got := tree(t, dir); !slices.Equal(got, []string{"-rwx------ a x"}) {
		t.Errorf("%q", got)
	}
}

// checkTree checks that there is nothing outside of a directory, and only plain files and directories in it.
func checkTree(t testing.TB, parent, dir string) {
	t.Helper()
	files, size := 0, int64(0)
	filepath.WalkDir(parent, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			t.Error(err)
			return nil
		}
		if Within(path, dir) {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			t.Error(err)
			return nil
		}
		files++
		size += info.Size()
		switch mode := info.Mode(); {
		case !Within(dir, path):
			t.Errorf("%s is outside", path)
		case mode.IsDir() && mode.Perm() == 0o700, mode.IsRegular() && (mode == 0o600 || mode == 0o700):
			if mode.IsDir() {
				size -= info.Size()
			}
		default:
			t.Errorf("%s: %s", path, mode)
		}
		return nil
	})
	if files > 5 || size > 1001 {
		t.Errorf("%d files with %d bytes", files, size)
	}
}

func FuzzUnpack(f *testing.F) {
	for _, data := range evil() {
		f.Add(data, false)
		f.Add(zipped(data), true)
	}
	f.Add(archive(file("a", "x"), entry{tar.Header{Typeflag: tar.TypeDir, Name: "b/", Mode: 0o755}, ""}, file("b/c", "y")), false)
	f.Fuzz(func(t *testing.T, data []byte, packed bool) {
		parent, err := os.MkdirTemp("", "belay-fuzz-")
		must.OK(t, err)
		defer os.RemoveAll(parent)
		dir := filepath.Join(parent, "a", "work")
		os.MkdirAll(dir, 0o700)
		unpack := small().unpack
		if packed {
			unpack = small().unzip
		}
		unpack(context.Background(), bytes.NewReader(data), dir)
		checkTree(t, parent, dir)
	})
}
