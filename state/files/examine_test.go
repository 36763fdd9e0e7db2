package files

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/guard"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// findings are those that are not fine.
func findings(t *testing.T, dir string, volume func(string) (guard.Volume, error)) (list []state.Finding) {
	t.Helper()
	s := must[*Store](t)(Open(dir, Options{Inspect: true, LockWait: 50 * time.Millisecond, volume: volume}))
	seen := map[string]bool{}
	state.Examine(ctx, s.Inspections(), false, func(f state.Finding) {
		seen[f.Check] = true
		if f.Text == "" || f.Level == state.Fine != (f.Hint == "") || f.Level == state.Fine != (f.Reason == "") {
			t.Errorf("%+v", f)
		}
		if f.Level != state.Fine {
			list = append(list, f)
		}
	})
	if len(seen) != 9 && ctx.Err() == nil {
		t.Errorf("checks: %v", seen)
	}
	return list
}

// left makes what an earlier change left long enough ago.
func aged(t *testing.T, path string) {
	t.Helper()
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

// theMail is a part of the name of the one item and the one notice there are in TestExamine.
var theMail = day1.Format("20060102T150405")

func theItem(s *Store) string {
	names, err := readNames(s.path(inboxDir))
	if err != nil || len(names) != 1 {
		panic(fmt.Sprint(names, err))
	}
	return inboxDir + "/" + names[0]
}

func theNotice(s *Store) string {
	names, err := readNames(s.path(outboxDir))
	if err != nil || len(names) != 1 {
		panic(fmt.Sprint(names, err))
	}
	return outboxDir + "/" + names[0]
}

// TestExamine plants one thing at a time, and looks that it is found, by its level and in words that name it, that looking has
// changed nothing, and that mending it, where that is safe, leaves nothing to find.
func TestExamine(t *testing.T) {
	clocktest.Alone(t)
	if runtime.GOOS == "windows" {
		t.Skip("permissions are not kept in modes here")
	}
	room := func(string) (guard.Volume, error) {
		return guard.Volume{Kind: "ext4", Free: 1 << 40, Inodes: 1 << 20}, nil
	}
	due := day0.Format(stamp)
	for _, c := range []struct {
		name  string
		plant func(s *Store, task string) error // task is the place of a pending task's file
		check string
		level state.Level
		say   string // the finding names it
		mends bool
		gone  bool // after the mend nothing is found; else something else is, such as what was set aside
	}{
		{"others can write the folder", func(s *Store, _ string) error { return os.Chmod(s.dir, 0o777) },
			"folder", state.Wrong, "can be written by others", true, true},
		{"others can write a folder of ours", func(s *Store, _ string) error { return os.Chmod(s.path(openDir), 0o720) },
			"folder", state.Wrong, "runs/open can be written by others", true, true},
		{"a folder is not its owner's to use", func(s *Store, _ string) error { return os.Chmod(s.path(tallyDir), 0o500) },
			"folder", state.Wrong, "0500", true, true},
		{"a folder is a link", func(s *Store, _ string) error {
			return errors.Join(os.Remove(s.path(corruptDir)), os.Symlink(t.TempDir(), s.path(corruptDir)))
		}, "folder", state.Wrong, "is a link", false, false},
		{"a folder is a file", func(s *Store, _ string) error {
			return errors.Join(os.Remove(s.path(corruptDir)), os.WriteFile(s.path(corruptDir), nil, 0o600))
		}, "folder", state.Wrong, "is not a folder", false, false},
		{"the lock is a link", func(s *Store, _ string) error {
			return errors.Join(os.Remove(s.path(lockFile)), os.Symlink("/dev/null", s.path(lockFile)))
		}, "folder", state.Wrong, "timers/.lock is not a plain file", false, false},
		{"a task is cut short", func(s *Store, task string) error { return os.Truncate(s.path(task), 100) },
			"files", state.Wrong, "cut short", true, false},
		{"a task is not text", func(s *Store, task string) error { return os.WriteFile(s.path(task), []byte("\xff\xfe"), 0o600) },
			"files", state.Wrong, "not valid UTF-8", true, false},
		{"a task is 100 MB", func(s *Store, task string) error { return os.Truncate(s.path(task), 100<<20) },
			"files", state.Wrong, "larger than", true, false},
		{"a task is another's", func(s *Store, task string) error {
			return os.Rename(s.path(task), s.path(queueDir+"/"+due+"."+state.ID(99)+suffix))
		}, "files", state.Wrong, "its name says task " + state.ID(99), true, false},
		{"a task is a folder", func(s *Store, task string) error {
			return errors.Join(os.Remove(s.path(task)), os.Mkdir(s.path(task), 0o700))
		}, "files", state.Wrong, "is not a plain file", true, false},
		{"a task is newer", func(s *Store, task string) error {
			return os.WriteFile(s.path(task), []byte("format = 99\n"), 0o600)
		}, "files", state.Wrong, "written by a newer version", false, false},
		{"a task can be written by others", func(s *Store, task string) error { return os.Chmod(s.path(task), 0o666) },
			"files", state.Wrong, "can be written by others", true, true},
		{"a task may not be read", func(s *Store, task string) error {
			if os.Geteuid() == 0 { // who may read anything: a stand-in that is found and mended
				return os.Chmod(s.path(task), 0o606)
			}
			return os.Chmod(s.path(task), 0)
		}, "files", state.Wrong, "its task does not run", true, true},
		{"a task has no task's name", func(s *Store, task string) error {
			return os.Rename(s.path(task), s.path(queueDir+"/tomorrow.toml"))
		}, "files", state.Wrong, "never runs", false, false},
		{"a task has an older copy", func(s *Store, task string) error {
			data, err := os.ReadFile(s.path(task))
			copied := s.path(endedDir + "/" + filepath.Base(task))
			return errors.Join(err, os.WriteFile(copied, data, 0o600), os.Chtimes(copied, day0, day0))
		}, "files", state.Odd, "older copy", true, false},
		{"a task has keys of a later version", func(s *Store, task string) error {
			data, err := os.ReadFile(s.path(task))
			return errors.Join(err, os.WriteFile(s.path(task), append([]byte("colour = 'red'\n"), data...), 0o600))
		}, "files", state.Odd, "colour", false, false},
		{"a file was set aside", func(s *Store, task string) error {
			return os.WriteFile(s.path(corruptDir+"/"+filepath.Base(task)+".2"), []byte("x"), 0o600)
		}, "aside", state.Wrong, "was set aside: ", false, false},
		{"the ledger is torn", func(s *Store, _ string) error {
			data, err := os.ReadFile(s.path(ledgerFile))
			return errors.Join(err, os.WriteFile(s.path(ledgerFile), append(data, `{"type"`...), 0o600))
		}, "ledger", state.Odd, "cut short after 7 bytes", true, true},
		{"a line of the ledger is damaged", func(s *Store, _ string) error {
			data, err := os.ReadFile(s.path(ledgerFile))
			copy(data[10:], "\x00\x00")
			return errors.Join(err, os.WriteFile(s.path(ledgerFile), data, 0o600))
		}, "ledger", state.Odd, "cannot be understood", false, false},
		{"a key is nobody's", func(s *Store, _ string) error {
			return os.WriteFile(s.path(keyPlace("gone")), keyText(state.ID(500), queueDir+"/x"), 0o600)
		}, "keys", state.Odd, "which is no more", true, true},
		{"a key is damaged", func(s *Store, _ string) error { return os.WriteFile(s.path(keyPlace("odd")), nil, 0o600) },
			"keys", state.Odd, "cannot be read", true, true},
		{"an item is cut short", func(s *Store, _ string) error { return os.Truncate(s.path(theItem(s)), 30) },
			"mail", state.Wrong, "cannot be understood", true, true},
		{"an item is empty", func(s *Store, _ string) error { return os.Truncate(s.path(theItem(s)), 0) },
			"mail", state.Wrong, "cannot be understood", true, true},
		{"an item is another's", func(s *Store, _ string) error {
			n, _ := parseItem(filepath.Base(theItem(s)))
			n.number = 2
			return os.Rename(s.path(theItem(s)), s.path(n.place()))
		}, "mail", state.Wrong, "its name says item", false, false},
		{"an item may not be read", func(s *Store, _ string) error {
			if os.Geteuid() == 0 { // who may read anything
				return os.Truncate(s.path(theItem(s)), 1)
			}
			return os.Chmod(s.path(theItem(s)), 0)
		}, "mail", state.Wrong, theMail, true, true},
		{"an item has no item's name", func(s *Store, _ string) error {
			return os.Rename(s.path(theItem(s)), s.path(inboxDir+"/mine.json"))
		}, "mail", state.Odd, "runs/inbox/mine.json has no item's name", false, false},
		{"a notice is cut short", func(s *Store, _ string) error { return os.Truncate(s.path(theNotice(s)), 30) },
			"mail", state.Wrong, "cannot be understood", true, true},
		{"a notice has no notice's name", func(s *Store, _ string) error {
			return os.WriteFile(s.path(outboxDir+"/notes.txt"), nil, 0o600)
		}, "mail", state.Odd, "runs/outbox/notes.txt has no notice's name", false, false},
		{"a folder of mail is gone, and the next writer makes it", func(s *Store, _ string) error {
			return errors.Join(os.RemoveAll(s.path(inboxDir)), os.WriteFile(s.path(outboxDir+"/x"), nil, 0o600))
		}, "mail", state.Odd, "runs/outbox/x", false, false},
		{"a writer of mail died", func(s *Store, _ string) error {
			path := s.path(inboxDir + "/" + tempPrefix + "0123")
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, day0, day0))
		}, "leftovers", state.Odd, "died", true, true},
		{"a writer died", func(s *Store, _ string) error {
			path := s.path(queueDir + "/" + tempPrefix + "0123")
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, day0, day0))
		}, "leftovers", state.Odd, "died", true, true},
		{"a note outlived its record", func(s *Store, _ string) error {
			path := s.path(openDir + "/" + state.ID(3) + "." + due + ".pid")
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, day0, day0))
		}, "leftovers", state.Odd, "died", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "ouro")
			s := open(t, dir)
			e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
			keyed := daily("k")
			keyed.Key = "mine"
			k := must[state.Entry](t)(s.Add(ctx, keyed, day1))
			r := must[state.Record](t)(s.Claim(ctx, k.Task.ID, day1, day2, state.Ident{}, day1))
			end := state.Line{At: day1, Outcome: state.Failed, Inbox: state.ItemFailure, Tell: []string{"desktop"}}
			if err := s.End(ctx, r, end); err != nil {
				t.Fatal(err)
			}
			if got := findings(t, dir, room); len(got) > 0 {
				t.Fatalf("on a good day: %+v", got)
			}
			task := queueDir + "/" + name{due: due, id: e.Task.ID}.queue()
			if err := c.plant(s, task); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(s.path(task)); err == nil {
				aged(t, s.path(task))
			}
			if names, _ := readNames(s.path(queueDir)); slices.Contains(names, due+"."+state.ID(99)+suffix) {
				aged(t, s.path(queueDir+"/"+due+"."+state.ID(99)+suffix))
			}
			before := tree(t, dir)
			got := findings(t, dir, room)
			i := slices.IndexFunc(got, func(f state.Finding) bool {
				return f.Check == c.check && f.Level == c.level && strings.Contains(f.Text, c.say)
			})
			if i < 0 {
				t.Fatalf("found %+v", got)
			}
			if after := tree(t, dir); !slices.Equal(before, after) {
				t.Errorf("looking has changed it:\n%v\n%v", before, after)
			}
			f := got[i]
			if (f.Mend != nil) != c.mends {
				t.Fatalf("it can be mended: %v, want %v", f.Mend != nil, c.mends)
			}
			if !c.mends {
				return
			}
			if done, err := f.Mend(ctx); err != nil || done == "" {
				t.Fatalf("mending: %q %v", done, err)
			}
			got = findings(t, dir, room)
			if c.gone && len(got) > 0 || slices.ContainsFunc(got, func(g state.Finding) bool { return g.Text == f.Text }) {
				t.Errorf("after mending: %+v", got)
			}
			if l, _, err := state.All(ctx, s); err != nil || !slices.ContainsFunc(l, func(e state.Entry) bool { return e.Task.Key == "mine" }) {
				t.Errorf("another task suffered: %v %v", l, err)
			}
		})
	}
}

// TestExamineDisk: room and whose disk it is.
func TestExamineDisk(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		v     guard.Volume
		level state.Level
		say   string
	}{
		{guard.Volume{Free: 100 << 10, Inodes: -1}, state.Wrong, "100 KiB"},
		{guard.Volume{Free: 30 << 20, Inodes: -1}, state.Odd, "30 MiB"},
		{guard.Volume{Free: 1 << 40, Inodes: 3}, state.Wrong, "3 files"},
		{guard.Volume{Free: 1 << 40, Inodes: 500}, state.Odd, "500 files"},
		{guard.Volume{Kind: "nfs", Network: true, Free: 1 << 40, Inodes: -1}, state.Odd, "network file system (nfs)"},
	} {
		got := findings(t, dir, func(string) (guard.Volume, error) { return c.v, nil })
		if len(got) != 1 || got[0].Check != "disk" || got[0].Level != c.level || !strings.Contains(got[0].Text, c.say) {
			t.Errorf("%+v: %+v", c.v, got)
		}
	}
	if got := findings(t, dir, func(string) (guard.Volume, error) { return guard.Volume{Free: -1, Inodes: -1}, nil }); len(got) > 0 {
		t.Errorf("what is not known is told: %+v", got)
	}
}

// TestExamineUnderALock: who holds it is named, and everything else is looked at all the same.
func TestExamineUnderALock(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	if err := os.Truncate(s.path(queueDir+"/"+name{due: day0.Format(stamp), id: e.Task.ID}.queue()), 9); err != nil {
		t.Fatal(err)
	}
	unlock, err := s.exclusive(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	var lock, file bool
	for _, f := range findings(t, dir, nil) {
		lock = lock || f.Check == "lock" && f.Level == state.Wrong && (runtime.GOOS != "linux" || strings.Contains(f.Text, fmt.Sprintf("process %d (", os.Getpid())))
		file = file || f.Check == "files" && strings.Contains(f.Text, "cut short")
	}
	if !lock || !file {
		t.Errorf("the lock was told: %v, the file: %v", lock, file)
	}
}

// TestExamineLeavesTheFreshAlone: what somebody may be writing just now is not moved.
func TestExamineLeavesTheFreshAlone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	path := s.path(queueDir + "/" + name{due: day0.Format(stamp), id: e.Task.ID}.queue())
	if err := errors.Join(os.Truncate(path, 9), os.WriteFile(s.path(queueDir+"/"+tempPrefix+"1"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	fresh := func() {
		t.Helper()
		soon := time.Now().Add(time.Second)
		for _, p := range []string{path, s.path(queueDir + "/" + tempPrefix + "1")} {
			if err := os.Chtimes(p, soon, soon); err != nil {
				t.Fatal(err)
			}
		}
	}
	fresh()
	began := time.Now()
	got := findings(t, dir, nil)
	if i := slices.IndexFunc(got, func(f state.Finding) bool { return f.Check == "leftovers" }); i >= 0 && time.Since(began) < time.Second {
		t.Errorf("%+v", got[i])
	}
	if len(got) == 0 || got[0].Check != "files" {
		t.Fatalf("%+v", got)
	}
	fresh()
	if done, err := got[0].Mend(ctx); err == nil || !strings.Contains(err.Error(), "within the last 2s") {
		t.Errorf("%q %v", done, err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
}

// TestExamineMany: very many of a kind are counted, and mended together.
func TestExamineMany(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	for i := range 50 {
		path := s.path(queueDir + "/" + name{due: day0.Format(stamp), id: state.ID(uint64(100 + i))}.queue())
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, day0, day0)); err != nil {
			t.Fatal(err)
		}
	}
	got := findings(t, dir, nil)
	if len(got) != state.FindingsMost+1 || !strings.Contains(got[state.FindingsMost].Text, "30 more") {
		t.Fatalf("%d findings, the last %+v", len(got), got[len(got)-1])
	}
	for _, f := range got {
		if _, err := f.Mend(ctx); err != nil {
			t.Error(err)
		}
	}
	if names, err := s.Quarantined(ctx); err != nil || len(names) != 50 {
		t.Errorf("%d set aside, %v", len(names), err)
	}
}

// TestInspectWritesNothing: a store that was opened for a look refuses to write, in a folder no other store would touch, and
// shows what is in it.
func TestInspectWritesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions are not kept in modes here")
	}
	dir := t.TempDir()
	s := open(t, dir)
	e := must[state.Entry](t)(s.Add(ctx, daily("n"), day0))
	r := must[state.Record](t)(s.Fire(ctx, e.Task.ID, state.Ident{}, day0))
	if err := s.End(ctx, r, state.Line{At: day0, Outcome: state.OK, Inbox: state.ItemResult, Tell: []string{"desktop"}}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	look := must[*Store](t)(Open(dir, Options{Inspect: true}))
	before := tree(t, dir)
	_, errAdd := look.Add(ctx, once("n"), day1)
	_, errClaim := look.Claim(ctx, e.Task.ID, day0, day1, state.Ident{}, day0)
	_, errLead := look.Lead(ctx, state.Leader{})
	_, errWatch := look.Follow(ctx)
	_, errWatchMail := look.WatchMail(ctx)
	_, _, _, errTake := look.Take(ctx, state.Query{}, day1, day2)
	errAck := look.Ack(ctx, []string{state.OccurrenceID(e.Task.ID, 1)})[0]
	due, _, _, err := look.Outbox(ctx, day2, 0)
	if err != nil || len(due) != 1 {
		t.Fatalf("%v %v", due, err)
	}
	errTold := look.Told(ctx, due[0], state.Line{At: day1, Delivered: true})
	errPostpone := look.Postpone(ctx, due[0])
	_, errAside := look.Quarantine(ctx, 0)
	for i, err := range []error{errAdd, errClaim, errLead, errWatch, errWatchMail, errTake, errAck, errTold, errPostpone} {
		if !errors.Is(err, state.ErrUnusable) {
			t.Errorf("%d: %v, want ErrUnusable", i, err)
		}
	}
	if errAside != nil {
		t.Errorf("with nothing to set aside: %v", errAside)
	}
	if l, _, err := state.All(ctx, look); err != nil || len(l) != 1 {
		t.Errorf("%v %v", l, err)
	}
	if l, _, _, err := look.Inbox(ctx, state.Query{}); err != nil || len(l) != 1 {
		t.Errorf("%v %v", l, err)
	}
	if after := tree(t, dir); !slices.Equal(before, after) {
		t.Errorf("it was changed:\n%v\n%v", before, after)
	}
	// What mends is strict again.
	if err := os.WriteFile(s.path(queueDir+"/"+tempPrefix+"1"), bytes.Repeat([]byte{1}, 9), 0o600); err != nil {
		t.Fatal(err)
	}
	aged(t, s.path(queueDir+"/"+tempPrefix+"1"))
	state.Examine(ctx, look.Inspections(), false, func(f state.Finding) {
		if f.Check == "leftovers" {
			if _, err := f.Mend(ctx); !errors.Is(err, state.ErrUnusable) {
				t.Errorf("%+v: %v, want ErrUnusable", f, err)
			}
		}
	})
}
