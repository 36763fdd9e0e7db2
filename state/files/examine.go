package files

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
	"github.com/ouro-timer/ouro-timer/state/guard"
	"github.com/ouro-timer/ouro-timer/state/lock"
)

const (
	// manyFindings is how many of a kind are told one by one.
	manyFindings = 20
	// settled is how long a file must have been left alone before it is taken for what it is: somebody may be writing it.
	settled = 2 * time.Second
	// Room that is left on the file system: little is worth a warning, with none nothing can be scheduled.
	littleRoom, noRoom   = 64 << 20, 1 << 20
	littleFiles, noFiles = 1000, 16
)

// Examine looks at everything in the folder. It works best on a store that was opened to Inspect.
func (s *Store) Examine(ctx context.Context) iter.Seq[state.Finding] {
	return func(yield func(state.Finding) bool) {
		for _, check := range []struct {
			name string
			fine string // what is said when it finds nothing
			look func(ctx context.Context, tell func(state.Finding) bool)
		}{
			{"folder", s.dir + " is yours alone and can be written", s.lookAtFolders},
			{"disk", "", s.lookAtDisk},
			{"lock", "the state lock is free", s.lookAtLock},
			{"files", "", s.lookAtFiles},
			{"aside", "no file was set aside", s.lookAside},
			{"ledger", "", s.lookAtLedger},
			{"mail", "", s.lookAtMail},
			{"keys", "every key is some task's", s.lookAtKeys},
			{"leftovers", "no dead process left a file", s.lookAtLeftovers},
		} {
			told, on := false, true
			check.look(ctx, func(f state.Finding) bool {
				f.Name, told = check.name, true
				on = on && ctx.Err() == nil && yield(f)
				return on
			})
			if on && !told {
				on = yield(state.Finding{Name: check.name, Level: state.Fine, Text: check.fine})
			}
			if !on {
				return
			}
		}
	}
}

// strict is the store for mending: it refuses what every other writer refuses.
func (s *Store) strict(report func(state.Problem)) (*Store, error) {
	return Open(s.dir, Options{LockWait: max(s.lock.Wait, settled), Report: report, disk: s.disk, volume: s.volume})
}

// mending is a mend that needs the state lock, and with it all applied that an earlier writer committed.
func (s *Store) mending(do func(t *tx) (string, error)) func(context.Context) (string, error) {
	return s.mendingBut(func(state.Problem) bool { return false }, do)
}

// mendingBut is mending that does not report, as mended on the way, what it is told for itself.
func (s *Store) mendingBut(told func(state.Problem) bool, do func(t *tx) (string, error)) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		strict, err := s.strict(func(p state.Problem) {
			if !told(p) {
				s.report(p)
			}
		})
		if err != nil {
			return "", err
		}
		t, err := strict.begin(ctx)
		if err != nil {
			return "", err
		}
		defer t.done()
		return do(t)
	}
}

// quoted is a path as it is pasted into a shell.
func quoted(path string) string { return state.ShellLine([]string{path}) }

func wrong(err error, hint string) state.Finding {
	hint = adviceOn(err, hint)
	return state.Finding{Level: state.Wrong, Text: err.Error(), Hint: hint}
}

// moreFiles is what to do when no file can be opened any more: what could not be looked at is not at fault.
const moreFiles = "raise the limit of open files: ulimit -n 1024 (or close some programs), and call again"

// adviceOn is the hint for an error, unless it is one that says nothing about the file.
func adviceOn(err error, hint string) string {
	if outOfFiles(err) {
		return moreFiles
	}
	return hint
}

func outOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// lookAtFolders looks at owners, permissions and links.
func (s *Store) lookAtFolders(_ context.Context, tell func(state.Finding) bool) {
	info, err := os.Stat(s.dir)
	var above *guard.AboveError
	if way := guard.Above(s.dir); errors.As(way, &above) { // else what is wrong is said below
		if !tell(state.Finding{Level: state.Wrong, Text: above.Text, Hint: above.Hint}) || missing(err) {
			return
		}
	}
	switch {
	case missing(err):
		if _, err := os.Lstat(s.dir); err == nil {
			tell(state.Finding{Level: state.Wrong, Text: s.dir + " is a link that leads nowhere", Hint: "rm " + quoted(s.dir) + ", or make what it leads to"})
			return
		}
		tell(state.Finding{Level: state.Fine, Text: s.dir + " is not there yet; the first task makes it"})
		return
	case err != nil:
		tell(wrong(err, "see who may enter the folders above it, or set OURO_HOME to a folder of yours"))
		return
	case !info.IsDir():
		tell(state.Finding{Level: state.Wrong, Text: s.dir + " is not a folder", Hint: "set OURO_HOME to a folder of yours"})
		return
	}
	if !s.lookAtFolder(s.dir, info, tell) {
		return
	}
	for _, place := range folders {
		path := s.path(place)
		info, err := os.Lstat(path)
		switch {
		case missing(err) && place == queueDir && s.queueGone():
			if !tell(s.vanishedFinding()) {
				return
			}
			continue
		case missing(err):
			continue // the next writer makes it
		case err != nil:
			if !tell(wrong(err, "chmod u+rwx "+quoted(filepath.Dir(path)))) {
				return
			}
			continue
		case info.Mode()&os.ModeSymlink != 0:
			if !tell(state.Finding{Level: state.Wrong, Text: path + " is a link, which may lead anywhere", Hint: "look where it leads, then: rm " + quoted(path)}) {
				return
			}
			continue
		case !info.IsDir():
			if !tell(state.Finding{Level: state.Wrong, Text: path + " is not a folder", Hint: "mv " + quoted(path) + " " + quoted(path+".away")}) {
				return
			}
			continue
		}
		if !s.lookAtFolder(path, info, tell) {
			return
		}
	}
	for _, place := range mainFiles {
		path := s.path(place)
		if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
			if !tell(state.Finding{Level: state.Wrong, Text: path + " is not a plain file", Hint: "look at it, then: rm " + quoted(path)}) {
				return
			}
		}
	}
}

// vanishedFinding tells of a queue that is gone, and how many tasks with it.
func (s *Store) vanishedFinding() state.Finding {
	path := s.path(queueDir)
	alive, err := s.alive()
	text := fmt.Sprintf("%s is gone; the ledger knows of %d tasks that were made and have not ended", path, alive)
	if err != nil {
		text = fmt.Sprintf("%s is gone, and the ledger, which knows of tasks, cannot be read: %v", path, err)
	}
	return state.Finding{Level: state.Wrong, Text: text, Hint: "put it back, or go on without them: mkdir -m 700 " + quoted(path)}
}

// alive is how many tasks have not ended, as far as the ledger knows.
func (s *Store) alive() (n int, err error) {
	const unknown, ran, over = 0, 1, 2 // ran: an occurrence has ended, which is the end of a one-shot
	tasks := map[string]int{}
	err = s.history("", func(e ledger.Entry) bool {
		now := tasks[e.TaskID]
		switch {
		case e.TaskID == "" || now == over:
			return true
		case e.Type == state.LineOccurrence && e.Stop != "", e.Event == state.EventRemoved, e.Event == state.EventFinished:
			now = over
		case e.Type == state.LineOccurrence:
			now = ran
		case e.Type == state.LineTask && e.Schedule != nil: // the newest that says how the task recurs
			if now == unknown || e.Schedule.Kind != "once" {
				n++
			}
			now = over
		}
		tasks[e.TaskID] = now
		return true
	})
	return n, err
}

// lookAtFolder looks at one of our folders that is there.
func (s *Store) lookAtFolder(path string, info os.FileInfo, tell func(state.Finding) bool) bool {
	if uid, ok := guard.Owner(info); ok && uid != os.Geteuid() {
		return tell(state.Finding{Level: state.Wrong, Text: fmt.Sprintf("%s belongs to user %d, and this is user %d", path, uid, os.Geteuid()),
			Hint: "run ouro-timer as that user, or set OURO_HOME to a folder of yours"})
	}
	if runtime.GOOS == "windows" {
		return true
	}
	chmod := func(change string, mode os.FileMode) func(context.Context) (string, error) {
		return func(context.Context) (string, error) {
			return "chmod " + change + " " + quoted(path), os.Chmod(path, mode)
		}
	}
	mode := info.Mode()
	if mode.Perm()&0o022 != 0 {
		if !tell(state.Finding{Level: state.Wrong, Text: path + " can be written by others, who could have anything run in your name",
			Hint: "chmod go-w " + quoted(path), Mend: chmod("go-w", mode&^0o022)}) {
			return false
		}
		mode &^= 0o022
	}
	if mode.Perm()&0o700 != 0o700 {
		return tell(state.Finding{Level: state.Wrong, Text: fmt.Sprintf("%s has the permissions %04o: its owner cannot use it", path, mode.Perm()),
			Hint: "chmod u+rwx " + quoted(path), Mend: chmod("u+rwx", mode|0o700)})
	}
	if err := guard.Writable(path); err != nil {
		hint := "set OURO_HOME to a folder that can be written"
		if readOnly(err) {
			hint = "make the file system writable, or set OURO_HOME to a folder on another one"
		}
		return tell(state.Finding{Level: state.Wrong, Text: fmt.Sprintf("%s cannot be written: %v", path, err), Hint: hint})
	}
	return true
}

// lookAtDisk looks at the file system: its room, and whose it is.
func (s *Store) lookAtDisk(_ context.Context, tell func(state.Finding) bool) {
	v, err := s.Volume()
	if err != nil {
		tell(wrong(err, "see who may enter the folders above it, or set OURO_HOME to a folder of yours"))
		return
	}
	room := "make room on the disk: df -h " + quoted(s.dir)
	inodes := "remove files on that disk: df -i " + quoted(s.dir)
	told := false
	say := func(f state.Finding) bool { told = true; return tell(f) }
	switch {
	case v.Free >= 0 && v.Free < noRoom:
		say(state.Finding{Level: state.Wrong, Text: fmt.Sprintf("the disk is full: %d KiB are left", v.Free>>10), Hint: room})
	case v.Free >= 0 && v.Free < littleRoom:
		say(state.Finding{Level: state.Odd, Text: fmt.Sprintf("the disk is nearly full: %d MiB are left", v.Free>>20), Hint: room})
	}
	switch {
	case v.Inodes >= 0 && v.Inodes < noFiles:
		say(state.Finding{Level: state.Wrong, Text: fmt.Sprintf("the file system has room for %d files more, and a task needs one", v.Inodes), Hint: inodes})
	case v.Inodes >= 0 && v.Inodes < littleFiles:
		say(state.Finding{Level: state.Odd, Text: fmt.Sprintf("the file system has room for %d files more", v.Inodes), Hint: inodes})
	}
	if v.Network {
		say(state.Finding{Level: state.Odd, Text: v.Warning(s.dir), Hint: "set OURO_HOME to a folder on a disk of this machine"})
	}
	if told {
		return
	}
	text := "the file system has room"
	if v.Free >= 0 {
		text = fmt.Sprintf("%d MiB are left", v.Free>>20)
	}
	if v.Kind != "" {
		text += " (" + v.Kind + ")"
	}
	tell(state.Finding{Level: state.Fine, Text: text})
}

// lookAtLock takes the state lock, as a writer does, and gives it back.
func (s *Store) lookAtLock(ctx context.Context, tell func(state.Finding) bool) {
	unlock, err := s.lock.Exclusive(ctx, nil)
	var busy *lock.BusyError
	switch {
	case err == nil:
		unlock()
	case missing(err), ctx.Err() != nil:
	case errors.As(err, &busy):
		if s.inspect {
			defer func() { s.lock.Wait = time.Millisecond }() // the checks after this one do not wait again
		}
		f := state.Finding{Level: state.Wrong, Text: fmt.Sprintf("%s has held the state lock for %v; nothing can be scheduled or run meanwhile", busy.Holder, busy.Waited),
			Hint: "find it: fuser " + quoted(s.path(lockFile))}
		if busy.PID > 0 {
			f.Hint = fmt.Sprintf("let it go on, or end it: kill -CONT %d; kill %[1]d", busy.PID)
		}
		if busy.Stopped {
			f.Hint = fmt.Sprintf("let it go on: kill -CONT %d", busy.PID)
		}
		tell(f)
	case unwritable(err): // said of the folder
		tell(state.Finding{Level: state.Odd, Text: "the state lock cannot be looked at: " + err.Error(), Hint: adviceOn(err, "chmod u+rw "+quoted(s.path(lockFile)))})
	default:
		tell(wrong(err, "set OURO_HOME to a folder on a file system with locks"))
	}
}

// lookAside names what was set aside.
func (s *Store) lookAside(_ context.Context, tell func(state.Finding) bool) {
	paths, err := s.allAside()
	if err != nil {
		tell(wrong(err, "chmod u+rwx "+quoted(s.path(corruptDir))))
		return
	}
	for i, path := range paths {
		if i == manyFindings {
			tell(state.Finding{Level: state.Wrong, Text: fmt.Sprintf("%d more files were set aside", len(paths)-i), Hint: "ls -l " + quoted(s.path(corruptDir))})
			return
		}
		if !tell(s.asideFinding(path)) {
			return
		}
	}
}

// asideFinding tells of a file in timers/corrupt, whose name is a task's, perhaps with a number behind it.
func (s *Store) asideFinding(path string) state.Finding {
	f := state.Finding{Level: state.Wrong, Text: path + " was set aside", Hint: "look at it, then: rm " + quoted(path)}
	n, ok := asideName(filepath.Base(path))
	if !ok {
		return f
	}
	if s.olderCopy(path) {
		return state.Finding{Level: state.Odd, Text: path + " was set aside and is an older copy of task " + n.id + ", which is not affected", Hint: "rm " + quoted(path)}
	}
	back := "mv " + quoted(path) + " " + quoted(s.path(queueDir+"/"+n.queue()))
	_, err := s.readTask(corruptDir+"/"+filepath.Base(path), n.id)
	if err == nil {
		f.Text = fmt.Sprintf("%s was set aside and can be read: it was mended, or is a copy of task %s that went away", path, n.id)
		f.Hint = back + "; or, when it is no longer wanted: rm " + quoted(path)
		return f
	}
	f.Text += ": " + reasonOf(err, path)
	f.Hint = "mend it and put it back: " + back + "; or rm " + quoted(path)
	return f
}

// reasonOf is an error without the path that it begins with.
func reasonOf(err error, path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), path), " ")
}

// PathOf is where the file of a task is.
func (s *Store) PathOf(e state.Entry) string {
	n, err := nameOf(e.Task.ID, e.Due)
	if err != nil {
		return s.path(queueDir)
	}
	if !e.Held {
		return s.path(queueDir + "/" + n.queue())
	}
	if n, err = n.with(e.Resume); err != nil {
		return s.path(pausedDir)
	}
	return s.path(pausedDir + "/" + n.file())
}
