package health

import (
	"os"
	"strings"
	"testing"
	"time"
)

// patience is longer than any machine needs.
const patience = 2 * time.Minute

// lull is long enough for attempts every 100 ms to be many.
const lull = time.Second

func TestFileIsAsAsked(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, file := range map[string]struct {
		text string
		age  time.Duration
	}{"empty": {"", time.Hour}, "old": {"x", 72 * time.Hour}, "hour": {"x", time.Hour}, "ahead": {"x", -time.Hour}} {
		if err := os.WriteFile(dir+"/"+name, []byte(file.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir+"/"+name, now, now.Add(-file.age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dir+"/folder", 0o700); err != nil {
		t.Fatal(err)
	}
	hour := now.Add(-time.Hour)
	for _, test := range []struct {
		name, path string
		file       File
		invert     bool
		want       string
	}{
		{"exists", "empty", File{}, false, ""},
		{"is not there", "none", File{NonEmpty: true}, false, "no such file"},
		{"a folder exists", "folder", File{}, false, ""},
		{"is empty", "empty", File{NonEmpty: true}, false, "is empty"},
		{"is not empty", "hour", File{NonEmpty: true}, false, ""},
		{"a folder is empty", "folder", File{NonEmpty: true}, false, "is empty"},
		{"a folder is not empty", ".", File{NonEmpty: true}, false, ""},
		{"is newer", "hour", File{NewerThanFile: dir + "/old"}, false, ""},
		{"is older", "old", File{NewerThanFile: dir + "/hour"}, false, "is not newer than " + dir + "/hour"},
		{"is as old", "hour", File{NewerThanFile: dir + "/hour"}, false, "is not newer than " + dir + "/hour"},
		{"newer than nothing", "hour", File{NewerThanFile: dir + "/none"}, false, dir + "/none, which it must be newer than: no such file"},
		{"changed since", "hour", File{Since: hour.Add(-time.Minute)}, false, ""},
		{"changed at that instant", "hour", File{Since: hour}, false, ""},
		{"changed within a tick of the kernel's clock", "hour", File{Since: hour.Add(clockLag)}, false, ""},
		{"not changed since", "hour", File{Since: hour.Add(time.Minute)}, false, "was last changed on " + hour.UTC().Format(time.RFC3339)},
		{"changed within", "hour", File{Within: 2 * time.Hour}, false, ""},
		{"not changed within", "old", File{Within: 2 * time.Hour}, false, "was last changed 72h ago"},
		{"from the future", "ahead", File{Within: time.Minute, Since: now}, false, ""},
		{"all at once", "hour", File{NonEmpty: true, NewerThanFile: dir + "/old", Since: hour, Within: 2 * time.Hour}, false, ""},
		{"gone", "none", File{}, true, ""},
		{"emptied", "empty", File{NonEmpty: true}, true, ""},
		{"grown old", "old", File{Within: time.Hour}, true, ""},
		{"not gone", "hour", File{}, true, "is still there"},
		{"newer than nothing, inverted", "hour", File{NewerThanFile: dir + "/none"}, true, dir + "/none, which it must be newer than: no such file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := once(t, Options{File: test.file, Invert: test.invert}, "file:"+dir+"/"+test.path)
			if !strings.HasPrefix(r.Last.String(), test.want) || r.Healthy != (test.want == "") || r.Permanent {
				t.Errorf("got %+v, want %q", r, test.want)
			}
		})
	}
}

// TestFileGrowsOld waits until a file has not been changed for a while: time alone brings that about.
func TestFileGrowsOld(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/log"
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const within = 700 * time.Millisecond
	r := Wait(t.Context(), mustParse(t, "file:"+path), Options{Invert: true, File: File{Within: within}, Timeout: patience})
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if age := time.Since(info.ModTime()); !r.Healthy || age < within {
		t.Errorf("after %v: %+v", age, r)
	}
	t.Logf("%d attempts", r.Attempts)
}
