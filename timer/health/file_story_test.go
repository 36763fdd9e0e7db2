package health

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/health/nettest"
)

// act does things in dir; each is an operation and its paths.
func act(t *testing.T, dir string, steps ...[]string) {
	t.Helper()
	for _, step := range steps {
		var err error
		at := func(i int) string { return filepath.Join(dir, step[i]) }
		switch step[0] {
		case "mkdir":
			err = os.MkdirAll(at(1), 0o700)
		case "write":
			err = os.WriteFile(at(1), []byte(step[2]), 0o600)
		case "rm":
			err = os.RemoveAll(at(1))
		case "mv":
			err = os.Rename(at(1), at(2))
		case "link":
			err = os.Symlink(step[2], at(1))
		case "relink": // as is usual: never away
			if err = os.Symlink(step[2], at(1)+".new"); err == nil {
				err = os.Rename(at(1)+".new", at(1))
			}
		case "touch":
			err = os.Chtimes(at(1), time.Time{}, time.Now())
		case "age":
			err = os.Chtimes(at(1), time.Time{}, time.Now().Add(-time.Hour))
		default:
			t.Fatalf("what is %q?", step[0])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestFileStories runs stories of which each act changes the answer.
func TestFileStories(t *testing.T) {
	type acts = [][]string
	for _, test := range []struct {
		name   string
		before acts
		o      Options
		steps  []acts // done one after another, each when an attempt has ended
		last   string // before the last step
	}{
		{"a file is written", nil, Options{}, []acts{{{"write", "ready", ""}}}, "no such file"},
		{"a file is moved here", acts{{"mkdir", "x"}, {"write", "x/tmp", ""}}, Options{}, []acts{{{"mv", "x/tmp", "ready"}}}, "no such file"},
		{"its folders come first", nil, Options{}, []acts{
			{{"mkdir", "a"}}, {{"mkdir", "a/b"}}, {{"write", "a/b/ready", ""}}}, "no such file"},
		{"its folders come all at once", nil, Options{}, []acts{{{"mkdir", "a/b"}, {"write", "a/b/ready", ""}}}, "no such file"},
		{"its folders come with it", acts{{"mkdir", "x/b"}, {"write", "x/b/ready", ""}}, Options{}, []acts{{{"mv", "x", "a"}}}, "no such file"},
		{"its folder goes and comes again", acts{{"mkdir", "a/b"}}, Options{}, []acts{
			{{"rm", "a"}}, {{"mkdir", "a/b"}}, {{"write", "a/b/ready", ""}}}, "no such file"},
		{"its folder is moved away and replaced", acts{{"mkdir", "a/b"}, {"mkdir", "x/b"}, {"write", "x/b/ready", ""}}, Options{}, []acts{
			{{"mv", "a/b", "a/old"}}, {{"mv", "x/b", "a/b"}}}, "no such file"},
		{"a link is pointed elsewhere", acts{{"mkdir", "v1"}, {"mkdir", "v2"}, {"write", "v2/ready", ""}, {"link", "a", "v1"}}, Options{},
			[]acts{{{"relink", "a", "v2"}}}, "no such file"},
		{"the file behind a link comes", acts{{"mkdir", "far"}, {"link", "ready", "far/ready"}}, Options{}, []acts{{{"write", "far/ready", ""}}}, "no such file"},
		{"a file stood where a folder is to be", acts{{"write", "a", ""}}, Options{}, []acts{
			{{"rm", "a"}}, {{"mkdir", "a/b"}, {"write", "a/b/ready", ""}}}, "no such file"},
		{"it is filled", acts{{"write", "ready", ""}}, Options{File: File{NonEmpty: true}}, []acts{{{"write", "ready", "x"}}}, "is empty"},
		{"the folder is filled", acts{{"mkdir", "ready"}}, Options{File: File{NonEmpty: true}}, []acts{{{"write", "ready/x", ""}}}, "is empty"},
		{"it is touched", acts{{"write", "ready", ""}, {"age", "ready"}}, Options{File: File{Within: time.Minute}}, []acts{{{"touch", "ready"}}}, "was last changed 1h ago"},
		{"it goes", acts{{"write", "ready", ""}}, Options{Invert: true}, []acts{{{"rm", "ready"}}}, "is still there"},
		{"it is moved away", acts{{"write", "ready", ""}}, Options{Invert: true}, []acts{{{"mv", "ready", "x"}}}, "is still there"},
		{"it goes with its folder", acts{{"mkdir", "a/b"}, {"write", "a/b/ready", ""}}, Options{Invert: true}, []acts{{{"mv", "a/b", "a/x"}}}, "is still there"},
		{"it is emptied", acts{{"write", "ready", "x"}}, Options{Invert: true, File: File{NonEmpty: true}}, []acts{{{"write", "ready", ""}}}, "is still there"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			act(t, dir, test.before...)
			path := dir + "/ready"
			for _, a := range append(test.before, flat(test.steps)...) {
				switch {
				case a[len(a)-1] == "v1":
					path = dir + "/a/ready"
				case a[1] == "a/b":
					path = dir + "/a/b/ready"
				case a[0] == "mv" && a[2] == "a":
					path = dir + "/a/b/ready"
				}
			}
			steps, last := test.steps, ""
			test.o.Timeout = patience
			test.o.Observe = func(_ int, r TargetResult) {
				if !r.Healthy {
					last = r.Last.String()
				}
				if len(steps) > 0 {
					act(t, dir, steps[0]...)
					steps = steps[1:]
				}
			}
			r := Wait(t.Context(), mustParse(t, "file:"+path), test.o)
			if !r.Healthy || len(steps) > 0 || last != test.last {
				t.Errorf("%s: %d steps left, last %q, %+v", path, len(steps), last, r)
			}
		})
	}
}

func flat(steps [][][]string) (all [][]string) {
	for _, s := range steps {
		all = append(all, s...)
	}
	return all
}

// TestReferenceIsLookedAt: a file is newer than another one also when that grows older.
func TestReferenceIsLookedAt(t *testing.T) {
	dir := t.TempDir()
	act(t, dir, []string{"mkdir", "x"}, []string{"write", "ready", ""}, []string{"age", "ready"})
	steps := [][]string{{"write", "x/ref", ""}, {"rm", "x/ref"}, {"write", "x/ref", ""}, {"touch", "ready"}}
	var seen []string
	r := Wait(t.Context(), mustParse(t, "file:"+dir+"/ready"), Options{
		File: File{NewerThanFile: dir + "/x/ref"}, Timeout: patience,
		Observe: func(_ int, r TargetResult) {
			seen = append(seen, r.Last.String())
			if len(steps) > 0 {
				act(t, dir, steps[0])
				steps = steps[1:]
			}
		},
	})
	if !r.Healthy || len(steps) > 0 {
		t.Errorf("seen %q, %+v", seen, r)
	}
}

// TestAFileOfTheKernel: one that is not there is looked at again and again.
func TestAFileOfTheKernel(t *testing.T) {
	t.Parallel()
	r := Wait(t.Context(), mustParse(t, "file:/proc/self/none"), Options{Timeout: lull})
	if r.Attempts < 2 || r.Targets[0].Last.String() != "no such file" {
		t.Errorf("got %+v", r)
	}
}

// TestSocketThatRefuses: it is tried until somebody listens.
func TestSocketThatRefuses(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/app.sock"
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	nettest.Close(stale)
	r := Wait(t.Context(), mustParse(t, "unix:"+path), Options{Timeout: lull})
	if r.Attempts < 2 || r.Targets[0].Last.String() != "connection refused" {
		t.Errorf("it refuses: %+v", r)
	}
	r = Wait(t.Context(), mustParse(t, "unix:"+path), Options{Timeout: patience, Observe: func(_ int, r TargetResult) {
		if r.Attempts == 1 {
			os.Remove(path)
			listen(t, "unix", path, drain)
		}
	}})
	if !r.Healthy {
		t.Errorf("it listens: %+v", r)
	}
	r = Wait(t.Context(), mustParse(t, "unix:"+path), Options{Invert: true, Timeout: patience, Observe: func(_ int, r TargetResult) {
		if r.Attempts == 1 {
			os.Remove(path)
		}
	}})
	if !r.Healthy {
		t.Errorf("it is gone: %+v", r)
	}
}
