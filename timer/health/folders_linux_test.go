package health

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/health/nettest"
	"golang.org/x/sys/unix"
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

// TestFoldersTell runs stories of which each act changes the answer; every change must be told.
func TestFoldersTell(t *testing.T) {
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
					last = r.LastError
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

// TestEvents hands over what the kernel says, several events at a time.
func TestEvents(t *testing.T) {
	event := func(wd int32, mask uint32, name string) []byte {
		b := binary.NativeEndian.AppendUint32(nil, uint32(wd))
		b = binary.NativeEndian.AppendUint32(b, mask)
		b = binary.NativeEndian.AppendUint32(b, 0) // the two of a move
		padded := (len(name) + 16) / 16 * 16
		if name == "" {
			padded = 0
		}
		b = binary.NativeEndian.AppendUint32(b, uint32(padded))
		return append(append(b, name...), make([]byte, padded-len(name))...)
	}
	const one, all = 1, 2 // watches: of one name, of all names
	for _, test := range []struct {
		name       string
		events     [][]byte
		does, lost bool
	}{
		{"the name", [][]byte{event(one, unix.IN_CREATE, "ready")}, true, false},
		{"another name", [][]byte{event(one, unix.IN_CREATE, "read"), event(one, unix.IN_CREATE, "ready2")}, false, false},
		{"the name, among others", [][]byte{event(one, unix.IN_CREATE, "x"), event(one, unix.IN_MOVED_TO, "ready"),
			event(one, unix.IN_DELETE, "a name of more than sixteen bytes")}, true, false},
		{"any name", [][]byte{event(all, unix.IN_DELETE, "x")}, true, false},
		{"the folder itself is touched", [][]byte{event(all, unix.IN_ATTRIB|unix.IN_ISDIR, "")}, false, false},
		{"the folder goes", [][]byte{event(one, unix.IN_DELETE_SELF, ""), event(one, unix.IN_IGNORED, "")}, true, true},
		{"the folder is moved", [][]byte{event(all, unix.IN_MOVE_SELF, "")}, true, true},
		{"its file system goes", [][]byte{event(one, unix.IN_UNMOUNT, "")}, true, true},
		{"there were too many", [][]byte{event(one, unix.IN_CREATE, "x"), event(-1, unix.IN_Q_OVERFLOW, "")}, true, true},
	} {
		h := &hub{wanted: map[int][]string{one: {"set", "ready"}, all: {anyName}}}
		if does := h.matters(slices.Concat(test.events...)); does != test.does || h.lost.Load() != test.lost {
			t.Errorf("%s: matters %v, lost %v", test.name, does, h.lost.Load())
		}
		if h.lost.Load() && h.covers(nil) {
			t.Errorf("%s: it is relied on", test.name)
		}
	}
}

// TestReferenceIsWatched: a file is newer than another one also when that grows older.
func TestReferenceIsWatched(t *testing.T) {
	dir := t.TempDir()
	act(t, dir, []string{"mkdir", "x"}, []string{"write", "ready", ""}, []string{"age", "ready"})
	steps := [][]string{{"write", "x/ref", ""}, {"rm", "x/ref"}, {"write", "x/ref", ""}, {"touch", "ready"}}
	var seen []string
	r := Wait(t.Context(), mustParse(t, "file:"+dir+"/ready"), Options{
		File: File{NewerThanFile: dir + "/x/ref"}, Timeout: patience,
		Observe: func(_ int, r TargetResult) {
			seen = append(seen, r.LastError)
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

// TestNothingHappens counts attempts: nothing that is not waited for brings one about.
func TestNothingHappens(t *testing.T) {
	for _, test := range []struct {
		target string
		o      Options
	}{
		{"file:DIR/none", Options{}},
		{"file:DIR/b/c/none", Options{}},
		{"unix://DIR/none.sock", Options{}},
		{"file:DIR/there", Options{Invert: true}},
		{"file:DIR/there", Options{File: File{NonEmpty: true}}},
		{"file:DIR/there", Options{Invert: true, File: File{Within: time.Hour}}},
		{"file:DIR/other", Options{Invert: true}}, // it is only written to
	} {
		t.Run(fmt.Sprint(test.target, " ", test.o.Invert), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			act(t, dir, []string{"write", "there", ""}, []string{"write", "other", ""})
			test.o.Timeout = lull
			test.o.Observe = func(i int, r TargetResult) {
				if r.Attempts == 1 {
					for n := range 100 {
						act(t, dir, []string{"write", "other", "more"})
						act(t, dir, []string{"write", fmt.Sprintf("other%d", n), ""}, []string{"rm", fmt.Sprintf("other%d", n)})
					}
				}
			}
			r := Wait(t.Context(), mustParse(t, strings.ReplaceAll(test.target, "DIR", dir)), test.o)
			if r.Attempts != 1 || r.Reason != TimedOut {
				t.Errorf("%s: %+v", test.target, r)
			}
		})
	}
}

// TestUnwatchableIsPolled: a file of the kernel's own changes without a word.
func TestUnwatchableIsPolled(t *testing.T) {
	t.Parallel()
	r := Wait(t.Context(), mustParse(t, "file:/proc/self/none"), Options{Timeout: lull})
	if r.Attempts < 2 || r.Targets[0].LastError != "no such file" {
		t.Errorf("got %+v", r)
	}
}

// TestSocketThatRefuses: that somebody listens on a socket is not told, so it is tried.
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
	if r.Attempts < 2 || r.Targets[0].LastError != "connection refused" {
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
