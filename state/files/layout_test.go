package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// tree is every file below dir with its permissions, sorted.
func tree(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		list = append(list, fmt.Sprintf("%v %s", info.Mode(), filepath.ToSlash(rel)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestLayout fixes the names and permissions of everything in the folder: docs/state.md promises them.
func TestLayout(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "ouro")
	s := open(t, dir)
	dump(t, s)
	if _, err := os.Stat(filepath.Dir(dir)); !missing(err) {
		t.Error("a reader made a folder")
	}
	first := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	second := must[state.Entry](t)(s.Add(ctx, daily("n"), day1))
	third := must[state.Entry](t)(s.Add(ctx, once("n"), day2))
	r := must[state.Record](t)(s.Claim(ctx, first.Task.ID, day0, time.Time{}, state.Ident{}, day0))
	if err := s.End(ctx, r, state.Line{At: day0, Outcome: state.OK}); err != nil {
		t.Fatal(err)
	}
	r = must[state.Record](t)(s.Claim(ctx, second.Task.ID, day1, day2, state.Ident{}, day1))
	if err := s.Started(ctx, r); err != nil {
		t.Fatal(err)
	}
	must[state.Entry](t)(s.Remove(ctx, third.Task.ID, day0))
	l := must[state.Lease](t)(s.Lead(ctx, state.Leader{}))
	defer l.Release()
	a, b, c := first.Task.ID, second.Task.ID, third.Task.ID
	want := []string{
		"drwx------ .",
		"drwx------ runs",
		"drwx------ runs/inbox",
		"-rw------- runs/commits",
		"-rw------- runs/ledger.jsonl",
		"drwx------ runs/open",
		"-rw------- runs/open/" + b + ".20261124T080000.000000000Z.toml",
		"drwx------ runs/outbox",
		"drwx------ runs/output",
		"drwx------ runs/output/" + a,
		"drwx------ runs/output/" + b,
		"-rw------- runs/runner.lock",
		"-rw------- runs/runner.toml",
		"drwx------ runs/tally",
		"-rw------- runs/tally/" + a + ".toml",
		"drwx------ runs/waits",
		"drwx------ timers",
		"-rw------- timers/.lock",
		"-rw------- timers/20261125T080000.000000000Z." + b + ".toml",
		"drwx------ timers/corrupt",
		"drwx------ timers/ended",
		"-rw------- timers/ended/20261123T080000.000000000Z." + a + ".toml",
		"drwx------ timers/keys",
		"drwx------ timers/origins",
		"drwx------ timers/paused",
		"drwx------ timers/removed",
		"-rw------- timers/removed/20261125T080000.000000000Z." + c + ".20261123T080000.000000000Z.toml",
	}
	got := tree(t, dir)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the folder has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestReadersChangeNothing calls every reading method on a store that has everything in it.
func TestReadersChangeNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	e := must[state.Entry](t)(s.Add(ctx, daily("n"), day0))
	must[state.Record](t)(s.Claim(ctx, e.Task.ID, day0, day1, state.Ident{}, day0))
	os.WriteFile(s.path(queueDir+"/"+name{due: day0.Format(stamp), id: state.ID(999)}.queue()), []byte("junk"), 0o600)
	os.WriteFile(s.path(queueDir+"/"+tempPrefix+"dead"), nil, 0o600)
	fired := must[state.Record](t)(s.Fire(ctx, e.Task.ID, state.Ident{}, day0))
	if err := s.End(ctx, fired, state.Line{At: day0, Outcome: state.OK, Inbox: state.ItemResult, Tell: []string{"desktop"}}); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	reader := open(t, dir)
	state.All(ctx, reader)
	reader.Find(ctx, e.Task.ID)
	dueBy(reader, day2, 0)
	state.Next(ctx, reader, day0)
	reader.Open(ctx)
	reader.Log(ctx, "", func(state.Line) bool { return true })
	reader.Led(ctx)
	keysFound(t, reader)
	reader.Inbox(ctx, state.Query{})
	reader.Outbox(ctx, day2, 0)
	reader.Take(ctx, state.Query{Tasks: []string{"zzzz"}}, day0, day2)
	if after := tree(t, dir); !slices.Equal(before, after) {
		t.Errorf("after reading\n%v\nbefore\n%v", after, before)
	}
}

// TestRefusesUnsafeFolders: nobody else may be able to plant a command in the state. Who opens it and who reads it looks at all of it; a handle that was
// opened a while ago, at the folders that a change writes to.
func TestRefusesUnsafeFolders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions are not kept in modes here")
	}
	prepare := func(t *testing.T) (string, *Store) {
		dir := filepath.Join(t.TempDir(), "ouro")
		s := lazy(t, dir, nil)
		must[state.Entry](t)(s.Add(ctx, once("waits"), day0))
		must[state.Entry](t)(s.Add(ctx, once("runs"), day0))
		must[state.Record](t)(s.Claim(ctx, secondID, day0, time.Time{}, state.Ident{}, day0))
		return dir, s
	}
	end := func(l state.Line) func(*Store) error {
		return func(s *Store) error {
			l.At, l.Outcome = day1, state.Failed
			return s.End(ctx, state.Record{Task: state.Task{ID: secondID}, Due: day0, Number: 1}, l)
		}
	}
	claim := func(s *Store) error {
		_, err := s.Claim(ctx, firstID, day0, time.Time{}, state.Ident{}, day0)
		return err
	}
	add := func(task state.Task) func(*Store) error {
		return func(s *Store) error { _, err := s.Add(ctx, task, day1); return err }
	}
	writes := map[string]func(s *Store) error{ // to the folder; another than these: an addition does
		endedDir:   claim,
		removedDir: func(s *Store) error { _, err := s.Remove(ctx, firstID, day0); return err },
		pausedDir:  func(s *Store) error { _, err := s.Pause(ctx, firstID, time.Time{}, day0); return err },
		keysDir:    add(keyed(once("n"), key)),
		originsDir: add(from(from1, once("n"))),
		corruptDir: func(s *Store) error {
			n, _ := nameOf(state.ID(999), day0)
			if err := os.WriteFile(s.path(queueDir+"/"+n.queue()), []byte("junk"), 0o600); err != nil {
				return err
			}
			_, err := s.Quarantine(ctx, 0)
			return err
		},
		openDir:   claim,
		outputDir: claim,
		tallyDir:  end(state.Line{}),
		inboxDir:  end(state.Line{Inbox: state.ItemFailure}),
		outboxDir: end(state.Line{Tell: []string{"desktop"}}),
		waitsDir:  func(s *Store) error { _, _, err := s.Announce(ctx, firstID, day0); return err },
	}
	refused := func(t *testing.T, s *Store, place, say string) {
		t.Helper()
		s.opened, s.guarded = time.Time{}, time.Time{} // it was opened a while ago
		write := writes[place]
		if write == nil {
			write = add(once("n"))
		}
		errWrite := write(s)
		_, _, errList := state.All(ctx, s)
		_, errOpen := Open(s.Dir(), Options{})
		for who, err := range map[string]error{"a change": errWrite, "a list": errList, "opening it": errOpen} {
			if !errors.Is(err, state.ErrUnusable) || !strings.Contains(err.Error(), say) {
				t.Errorf("%s: %v, want ErrUnusable that says %q", who, err, say)
			}
		}
	}
	for _, place := range append([]string{"."}, folders...) {
		for _, mode := range []fs.FileMode{0o770, 0o707, 0o777 | fs.ModeSticky} {
			t.Run(fmt.Sprint(place, " ", mode), func(t *testing.T) {
				dir, s := prepare(t)
				path := filepath.Join(dir, place)
				if err := os.Chmod(path, mode); err != nil {
					t.Fatal(err)
				}
				say := "chmod go-w " + path
				if place == "." && mode&fs.ModeSticky != 0 {
					say = "set OURO_HOME to one in it" // as of /tmp
				}
				refused(t, s, place, say)
				if err := os.Chmod(path, 0o755); err != nil { // readable is the user's own choice
					t.Fatal(err)
				}
				if list, _, err := state.All(ctx, s); err != nil || len(list) != 2 {
					t.Errorf("%v %v", list, err)
				}
				must[state.Entry](t)(s.Add(ctx, once("n"), day1))
			})
		}
		if place == "." {
			continue
		}
		t.Run(place+" is a link", func(t *testing.T) {
			dir, s := prepare(t)
			path := filepath.Join(dir, place)
			target := t.TempDir()
			if err := errors.Join(os.RemoveAll(path), os.Symlink(target, path)); err != nil {
				t.Fatal(err)
			}
			refused(t, s, place, "link")
			if names := must[[]string](t)(readNames(target)); len(names) > 0 {
				t.Errorf("in what the link leads to %v was made", names)
			}
		})
	}
	for _, place := range []string{lockFile, ledgerFile, leadFile, commitsFile} {
		t.Run(place+" is a link", func(t *testing.T) {
			dir, s := prepare(t)
			path := filepath.Join(dir, place)
			target := filepath.Join(t.TempDir(), "target")
			os.Remove(path)
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
			_, errOpen := Open(dir, Options{})
			s.opened, s.guarded = time.Time{}, time.Time{}
			_, _, errList := state.All(ctx, s)
			for _, err := range []error{errOpen, errList} {
				if !errors.Is(err, state.ErrUnusable) || !strings.Contains(err.Error(), "rm "+path) {
					t.Errorf("%v, want ErrUnusable that says what to type", err)
				}
			}
			if place == leadFile { // an addition has nothing to do with it
				_, errOpen = s.Lead(ctx, state.Leader{})
			} else {
				errOpen = add(once("n"))(s)
			}
			if !errors.Is(errOpen, state.ErrUnusable) || !strings.Contains(errOpen.Error(), path) {
				t.Errorf("%v, want ErrUnusable that names it", errOpen)
			}
			if _, err := os.Lstat(target); !missing(err) {
				t.Error("what the link leads to was made")
			}
		})
	}
	t.Run("owned by another", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("only root can give a folder away")
		}
		for _, place := range []string{".", queueDir, tallyDir} {
			dir, s := prepare(t)
			if err := os.Chown(filepath.Join(dir, place), 4711, 4711); err != nil {
				t.Fatal(err)
			}
			refused(t, s, place, "belongs to user 4711")
		}
	})
	t.Run("the state folder itself may be a link", func(t *testing.T) {
		dir, _ := prepare(t)
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(dir, link); err != nil {
			t.Fatal(err)
		}
		if l, _, err := state.All(ctx, open(t, link)); err != nil || len(l) != 2 {
			t.Errorf("%v %v", l, err)
		}
	})
	t.Run("it is a file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		os.WriteFile(file, nil, 0o600)
		if _, err := Open(file, Options{}); !errors.Is(err, state.ErrUnusable) {
			t.Error(err)
		}
	})
}

// TestPlantedFiles: whatever lies in the queue, the other tasks are not affected.
func TestPlantedFiles(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	good := must[state.Entry](t)(s.Add(ctx, once("good"), day0))
	secret := filepath.Join(t.TempDir(), "secret")
	os.WriteFile(secret, []byte("secret"), 0o600)
	planted := 0
	plant := func(make func(path string) error) {
		t.Helper()
		planted++
		if err := make(s.path(queueDir + "/" + name{due: day0.Format(stamp), id: state.ID(uint64(1000 + planted))}.queue())); err != nil {
			t.Fatal(err)
		}
	}
	plant(func(p string) error { return os.Symlink(secret, p) })
	plant(func(p string) error { return os.Symlink("/dev/zero", p) })
	plant(func(p string) error { return os.Symlink(filepath.Base(p), p) })
	plant(func(p string) error { return os.Mkdir(p, 0o700) })
	plant(func(p string) error { return makePipe(p) })
	plant(func(p string) error { return os.WriteFile(p, nil, 0o600) })
	plant(func(p string) error { return os.WriteFile(p, []byte("\x00\xff"), 0o600) })
	plant(func(p string) error { return errors.Join(os.WriteFile(p, nil, 0o600), os.Truncate(p, 1<<40)) })
	plant(func(p string) error { // a copy under another's name
		data, err := os.ReadFile(s.path(queueDir + "/" + name{due: day0.Format(stamp), id: good.Task.ID}.queue()))
		return errors.Join(err, os.WriteFile(p, data, 0o600))
	})
	foreign := []string{".20261123T080000.000000000Z." + good.Task.ID + ".toml.swp", "notes.txt", "20261123T080000.000000000Z." + good.Task.ID + ".toml~",
		"20261123T080000Z." + good.Task.ID + ".toml", "20261123T080000.000000000Z.aaaa.toml", "-rf", "x\n.toml"}
	for _, f := range foreign {
		if err := os.WriteFile(s.path(queueDir+"/"+f), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, problems, err := state.All(ctx, s)
	if err != nil || len(l) != 1 || l[0].Task.ID != good.Task.ID || len(problems) != planted {
		t.Fatalf("list: %d tasks, %d problems of %d, %v\n%v", len(l), len(problems), planted, err, problems)
	}
	for _, limit := range []int{0, 1, 3} {
		l, _, err = dueBy(s, day1, limit)
		if err != nil || len(l) != 1 {
			t.Errorf("due with limit %d: %d tasks, %v", limit, len(l), err)
		}
	}
	if moved, err := s.Quarantine(ctx, time.Hour); err != nil || len(moved) != 0 {
		t.Errorf("what was just changed is set aside: %v %v", moved, err)
	}
	moved, err := s.Quarantine(ctx, 0)
	if err != nil || len(moved) != planted {
		t.Fatalf("%d set aside of %d, %v", len(moved), planted, err)
	}
	for _, p := range moved {
		if _, err := os.Lstat(p.Path); err != nil || filepath.Dir(p.Path) != s.path(corruptDir) || p.Hint == "" {
			t.Errorf("%+v: %v", p, err)
		}
	}
	dump(t, s)
	for _, f := range foreign {
		if _, err := os.Lstat(s.path(queueDir + "/" + f)); err != nil {
			t.Errorf("a foreign file was touched: %v", err)
		}
	}
	if data, _ := os.ReadFile(secret); string(data) != "secret" {
		t.Error("a link was followed")
	}
	// A second one of the same name does not overwrite the first.
	again := moved[0].Path
	os.WriteFile(s.path(queueDir+"/"+filepath.Base(again)), nil, 0o600)
	if moved, err := s.Quarantine(ctx, 0); err != nil || len(moved) != 1 || moved[0].Path == again {
		t.Errorf("%v %v", moved, err)
	}
}

// TestTwoFilesOfOneTask: the higher revision counts, then the later due; the other is reported and set aside.
func TestTwoFilesOfOneTask(t *testing.T) {
	for _, c := range []struct {
		name      string
		revision  int64
		dir       string
		due       time.Time
		win       time.Time
		phase     state.Phase
		dueByDay0 int
	}{
		{"a later revision due earlier", 2, queueDir, day0, day0, state.Pending, 1},
		{"an earlier revision due later", 0, queueDir, day2, day1, state.Pending, 0},
		{"the same revision due later", 1, queueDir, day2, day2, state.Pending, 0},
		{"the same revision due earlier", 1, queueDir, day0, day1, state.Pending, 0},
		{"ended later", 1, endedDir, day2, day2, state.Ended, 0},
		{"ended at the same instant", 1, endedDir, day1, day1, state.Pending, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, t.TempDir())
			e := must[state.Entry](t)(s.Add(ctx, once("n"), day1))
			copied := e.Task
			copied.Revision = max(c.revision, 1)
			if c.revision == 0 { // the one in the queue is newer instead
				mine := e.Task
				mine.Revision = 2
				data := encoded(t, mine, nil)
				os.WriteFile(s.path(queueDir+"/"+name{due: day1.Format(stamp), id: e.Task.ID}.queue()), data, 0o600)
			}
			data := encoded(t, copied, nil)
			os.WriteFile(s.path(c.dir+"/"+name{due: c.due.Format(stamp), id: e.Task.ID}.queue()), data, 0o600)
			l, problems, err := state.All(ctx, s)
			if err != nil || len(l) != 1 || len(problems) != 1 || !l[0].Due.Equal(c.win) || l[0].Phase != c.phase {
				t.Errorf("list %+v %v %v", l, problems, err)
			}
			f, err := s.Find(ctx, e.Task.ID)
			if err != nil || len(f) != 1 || !f[0].Due.Equal(c.win) || f[0].Phase != c.phase {
				t.Errorf("find %+v %v", f, err)
			}
			if l, _, err := dueBy(s, day0, 0); err != nil || len(l) != c.dueByDay0 {
				t.Errorf("due %+v %v", l, err)
			}
			if moved, err := s.Quarantine(ctx, 0); err != nil || len(moved) != 1 {
				t.Errorf("set aside %v %v", moved, err)
			}
			if l, problems, err := state.All(ctx, s); err != nil || len(l) != 1 || len(problems) != 0 || !l[0].Due.Equal(c.win) {
				t.Errorf("then %+v %v %v", l, problems, err)
			}
		})
	}
}
