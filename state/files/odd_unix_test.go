//go:build unix

package files

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
	"github.com/ouro-timer/ouro-timer/state/settings"
	"github.com/ouro-timer/ouro-timer/state/storetest"
)

// ofEach is a folder with a file of every kind that there is.
func ofEach(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s := must[*Store](t)(Open(dir, Options{Limits: func() (state.Limits, error) { return state.Limits{Pending: 50, PerHour: 60}, nil }}))
	me := state.Ident{PID: os.Getpid()}
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	keyed := daily("n")
	keyed.Key = "news"
	keyed.Run.Argv = []string{"true"}
	e := must[state.Entry](t)(s.Add(ctx, keyed, day0))
	r := must[state.Record](t)(s.Claim(ctx, e.Task.ID, day0, day1, me, day0))
	out, errs := outputPaths(s, e.Task.ID, r.Number)
	fail(errors.Join(os.WriteFile(out, []byte("x"), 0o600), os.WriteFile(errs, nil, 0o600)))
	fail(s.End(ctx, r, state.Line{At: day0, Outcome: state.Failed, Inbox: state.ItemResult, Tell: []string{"desktop"}}))
	must[state.Record](t)(s.Claim(ctx, e.Task.ID, day1, day2, me, day1))
	child := once("of a run")
	child.Origin = e.Task.ID
	must[state.Entry](t)(s.Add(ctx, child, day2))
	paused := must[state.Entry](t)(s.Add(ctx, once("paused"), day2))
	must[state.Entry](t)(s.Pause(ctx, paused.Task.ID, day2, day1))
	removed := must[state.Entry](t)(s.Add(ctx, once("removed"), day2))
	must[state.Entry](t)(s.Remove(ctx, removed.Task.ID, day1))
	var wants []storetest.Want
	for range 3 {
		e := must[state.Entry](t)(s.Add(ctx, once("together"), day1))
		wants = append(wants, storetest.Want{ID: e.Task.ID, Due: day1})
	}
	for _, g := range storetest.ClaimAll(ctx, s, wants, me, day1) {
		fail(g.Err)
	}
	fail(s.NoteAgents(ctx, state.Agents{Runner: me, Processes: []state.AgentProcess{{}}}))
	fail(os.WriteFile(filepath.Join(dir, "config.toml"), []byte("tz = 'UTC'\n"), 0o600))
	for _, place := range []string{leaderFile, droppedFile, clockShiftFile} {
		fail(os.WriteFile(s.path(place), []byte("format = 1\n"+"# end\n"), 0o600))
	}
	wait := once("wait")
	wait.Wait = state.Wait{Text: "1m", Kind: "once"}
	w := must[state.Entry](t)(s.Add(ctx, wait, day2))
	_, leave, err := s.Announce(ctx, w.Task.ID, day2)
	fail(err)
	fail(os.Link(s.path(announceFile(w.Task.ID)), filepath.Join(dir, "kept")))
	leave()
	fail(os.Rename(filepath.Join(dir, "kept"), s.path(announceFile(w.Task.ID))))
	return dir
}

// TestWhatIsNoFileHangsNobody puts a pipe, a socket, a device, a folder and a link in the place of each file that there is, one at a time, and
// does everything with the state: whatever is answered, each answer comes, nothing that a link leads to is read or written, and what is refused
// names the path.
func TestWhatIsNoFileHangsNobody(t *testing.T) {
	from := ofEach(t)
	var places []string
	if err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			place, _ := filepath.Rel(from, path)
			places = append(places, place)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{lockFile, ledgerFile, leaderFile, commitsFile, keysDir, openDir, tallyDir, inboxDir, outboxDir, originsDir, outputDir, waitsDir, runsDir + "/agents-"} {
		if !strings.Contains(strings.Join(places, "\n"), want) {
			t.Errorf("nothing of %s is tried", want)
		}
	}
	short, err := os.MkdirTemp(filepath.Dir(quickDir(t)), "odd") // a socket's path is a short one
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) })
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []struct {
		name string
		put  func(path string) error
		few  bool // it is tried where it was ever in the way
	}{
		{"a pipe", makePipe, false},
		{"a socket", func(path string) error {
			at := filepath.Join(short, "s")
			l, err := net.Listen("unix", at)
			if err != nil {
				return err
			}
			l.(*net.UnixListener).SetUnlinkOnClose(false)
			return errors.Join(l.Close(), os.Rename(at, path))
		}, true},
		{"a folder", func(path string) error { return os.Mkdir(path, 0o700) }, true},
		{"a link to a file", func(path string) error { return os.Symlink(secret, path) }, false},
		{"a link to a device", func(path string) error { return os.Symlink("/dev/zero", path) }, true},
	} {
		t.Run(kind.name, func(t *testing.T) {
			for _, place := range places {
				if kind.few && !slices.Contains(mainFiles, place) && !strings.HasPrefix(place, keysDir) {
					continue
				}
				dir := quickDir(t)
				copyTree(t, from, dir)
				path := filepath.Join(dir, place)
				if err := errors.Join(os.Remove(path), kind.put(path)); errors.Is(err, syscall.EXDEV) {
					t.Skip("the temporary folders are on two file systems")
				} else if err != nil {
					t.Fatal(err)
				}
				done := make(chan []error, 1)
				go func() { done <- doAll(dir) }()
				select {
				case errs := <-done:
					for _, err := range errs {
						if errors.Is(err, state.ErrUnusable) && !strings.Contains(err.Error(), dir) && place != "config.toml" {
							t.Errorf("%s: an error that names no path: %v", place, err)
						}
					}
					refused := false
					for _, err := range errs {
						refused = refused || err != nil && errors.Is(err, state.ErrUnusable) && strings.Contains(err.Error(), path)
					}
					for _, must := range mainFiles {
						if place == must && !refused {
							t.Errorf("%s: not refused: %v", place, errs)
						}
					}
				case <-time.After(2 * time.Minute):
					t.Fatalf("%s: somebody hangs", place)
				}
			}
			if text, err := os.ReadFile(secret); err != nil || string(text) != "secret" {
				t.Errorf("what the link leads to was written: %q %v", text, err)
			}
		})
	}
}

// quickDir is a folder that waits for no disk, where there is one.
func quickDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "ouro")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// copyTree copies a folder with all that is in it, and its permissions.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == from {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		if d.IsDir() {
			return os.Mkdir(filepath.Join(to, rel), 0o700)
		}
		data, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(filepath.Join(to, rel), data, 0o600))
	}); err != nil {
		t.Fatal(err)
	}
}

// doAll does everything that can be done with a state, and returns what was refused.
func doAll(dir string) (errs []error) {
	note := func(err error) { errs = append(errs, err) }
	_, err := settings.Load(dir)
	note(err)
	if look, err := Open(dir, Options{Inspect: true, LockWait: time.Second}); err == nil {
		state.Examine(ctx, look.Inspections(), false, func(state.Finding) {})
	}
	s, err := Open(dir, Options{LockWait: patience, Limits: func() (state.Limits, error) { return state.Limits{Pending: 50, PerHour: 60}, nil }})
	if err != nil {
		return append(errs, err)
	}
	me := state.Ident{PID: os.Getpid()}
	keyed := once("keyed")
	keyed.Key = "news"
	_, err = s.Add(ctx, keyed, day2)
	note(err)
	keyed.Key = "other"
	_, err = s.Add(ctx, keyed, day2)
	note(err)
	list, _, err := state.All(ctx, s)
	note(err)
	_, _, err = dueBy(s, day2.AddDate(0, 0, 1), 0)
	note(err)
	_, _, err = s.Open(ctx)
	note(err)
	for _, e := range list {
		_, err := s.Find(ctx, e.Task.ID)
		note(err)
		e.Task.Description = "edited"
		_, err = s.Update(ctx, e.Task, time.Time{}, day1, nil)
		note(err)
		r, err := s.Claim(ctx, e.Task.ID, e.Due, time.Time{}, me, day2)
		note(err)
		if err == nil {
			note(s.Started(ctx, r))
			note(s.Halt(ctx, r, "x"))
			note(s.End(ctx, r, state.Line{At: day2, Outcome: state.OK, Inbox: state.ItemResult, Tell: []string{"desktop"}}))
		}
		for _, r := range e.Open {
			note(s.End(ctx, r, state.Line{At: day2, Outcome: state.OK}))
		}
		_, err = s.Remove(ctx, e.Task.ID, day2)
		note(err)
		_, err = s.Restore(ctx, e.Task.ID, day2.AddDate(0, 0, 1), day2)
		note(err)
	}
	_, _, err = s.Log(ctx, "", func(state.Line) bool { return true })
	note(err)
	items, _, _, err := s.Inbox(ctx, state.Query{})
	note(err)
	_, _, _, err = s.Take(ctx, state.Query{}, day2, day2.AddDate(0, 0, 1))
	note(err)
	for _, i := range items {
		note(errors.Join(s.Ack(ctx, []string{i.ID})...))
	}
	due, _, _, err := s.Outbox(ctx, day2.AddDate(0, 0, 1), 0)
	note(err)
	for _, n := range due {
		note(s.Told(ctx, n, state.Line{At: day2, Delivered: true}))
	}
	_, err = s.Agents(ctx)
	note(err)
	_, _, err = s.Led(ctx)
	note(err)
	if l, err := s.Lead(ctx, state.Leader{}); err == nil {
		note(s.Sync(ctx))
		_, err = s.Quarantine(ctx, 0)
		note(err)
		_, err = s.Prune(ctx, state.Keep{Ended: time.Hour, Runs: 1, Output: 1, Items: 1, Inbox: 1}, day2.AddDate(0, 0, 1))
		note(err)
		note(l.Release())
	} else {
		note(err)
	}
	return errs
}

// TestOutputFolderThatIsALink: what is in it is neither written, nor read, nor removed.
func TestOutputFolderThatIsALink(t *testing.T) {
	s := open(t, t.TempDir())
	task := daily("n")
	task.Run.Argv = []string{"true"}
	e := must[state.Entry](t)(s.Add(ctx, task, day0))
	away := t.TempDir()
	for _, name := range []string{"1.out", "1.err", "2.out"} {
		if err := os.WriteFile(filepath.Join(away, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder := s.path(outputDir + "/" + e.Task.ID)
	if err := os.Symlink(away, folder); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim(ctx, e.Task.ID, day0, day1, state.Ident{}, day0); !errors.Is(err, state.ErrUnusable) || !strings.Contains(err.Error(), folder) ||
		!strings.Contains(err.Error(), "rm ") {
		t.Errorf("a claim: %v", err)
	}
	if got := storetest.ClaimAll(ctx, s, []storetest.Want{{ID: e.Task.ID, Due: day0, Next: day1}}, state.Ident{}, day0); !errors.Is(got[0].Err, state.ErrUnusable) {
		t.Errorf("claims together: %v", got[0].Err)
	}
	if _, err := s.Fire(ctx, e.Task.ID, state.Ident{}, day0); !errors.Is(err, state.ErrUnusable) {
		t.Errorf("by hand: %v", err)
	}
	must[state.Entry](t)(s.Remove(ctx, e.Task.ID, day0))
	for _, keep := range []state.Keep{{Runs: 1}, {Output: 1}, {Ended: time.Hour}} {
		if p, err := s.Prune(ctx, keep, day0.AddDate(1, 0, 0)); err != nil || p.Runs > 0 || p.Bytes > 0 {
			t.Errorf("%+v %v", p, err)
		}
	}
	if names, err := readNames(away); err != nil || len(names) != 3 {
		t.Errorf("what the link leads to has %v left: %v", names, err)
	}
	if err := plainfile.CheckFolder(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link of a task that was forgotten: %v", err)
	}
}

// TestFoldersAbove opens a state below folders in which others could put another one in its place.
func TestFoldersAbove(t *testing.T) {
	mode := func(path string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(path, 0o700), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	top := must[string](t)(filepath.EvalSymlinks(t.TempDir()))
	mode(top+"/open", 0o777)
	mode(top+"/group", 0o775)
	mode(top+"/sticky", 0o777|os.ModeSticky)
	mode(top+"/read", 0o755)
	mode(top+"/open/below/home", 0o700)
	mode(top+"/read/home", 0o700)
	for link, to := range map[string]string{
		"/read/link":      "../read/home",           // fine
		"/read/out":       top + "/open/below/home", // leads through an open one
		"/open/link":      top + "/read/home",       // can be replaced itself
		"/read/two":       "out/../../../read/home", // on the way
		"/sticky/mine":    top + "/read/home",
		"/read/round":     "round",
		"/sticky/foreign": top + "/read/home",
	} {
		if err := os.Symlink(to, top+link); err != nil {
			t.Fatal(err)
		}
	}
	tries := []struct{ path, say string }{
		{"/read/home", ""},
		{"/read/new/and/below", ""},
		{"/sticky/home", ""},
		{"/read/link", ""},
		{"/sticky/mine", ""},
		{"/open/home", top + "/open can be written by others"},
		{"/open/below/home", top + "/open can be written by others"},
		{"/group/home", "chmod go-w " + top + "/group"},
		{"/read/out", top + "/open can be written by others"},
		{"/read/two", top + "/open can be written by others"},
		{"/open/link", top + "/open can be written by others"},
		{"/read/round/x", "links"},
	}
	if os.Geteuid() == 0 {
		mode(top+"/another", 0o755)
		if err := errors.Join(os.Chown(top+"/another", 4321, -1), os.Lchown(top+"/sticky/foreign", 4321, -1)); err != nil {
			t.Fatal(err)
		}
		tries = append(tries, []struct{ path, say string }{
			{"/another/home", top + "/another belongs to user 4321"},
			{"/sticky/foreign", top + "/sticky/foreign belongs to user 4321"},
		}...)
	}
	for _, try := range tries {
		_, before := os.Stat(top + try.path + "/timers")
		s, err := Open(top+try.path, Options{})
		switch {
		case try.say == "":
			if err != nil {
				t.Errorf("%s: %v", try.path, err)
			} else if _, err := s.Add(ctx, once("x"), day2); err != nil {
				t.Errorf("%s: %v", try.path, err)
			}
		case !errors.Is(err, state.ErrUnusable) || !strings.Contains(err.Error(), try.say):
			t.Errorf("%s: %v, want %q", try.path, err, try.say)
		default:
			if _, err := os.Stat(top + try.path + "/timers"); err == nil && before != nil {
				t.Errorf("%s: something was made", try.path)
			}
		}
	}
	found := findings(t, top+"/open/below/home", nil)
	if len(found) == 0 || found[0].Check != "folder" || found[0].Level != state.Wrong || !strings.Contains(found[0].Text, top+"/open can be written") || !strings.Contains(found[0].Hint, "chmod go-w") {
		t.Errorf("%+v", found)
	}
}
