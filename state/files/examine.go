package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
	"github.com/ouro-timer/ouro-timer/state/guard"
	"github.com/ouro-timer/ouro-timer/state/lock"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// An examination reads as every reader does. What a reader refuses, and why, is the finding
// (fault). This file looks only at what no reader looks at.

// untouched is how long nobody must have touched a file before it is judged. Somebody may be
// writing it.
const untouched = 2 * time.Second

// The reasons of findings, besides those of package guard.
const (
	isUnreadable  state.Reason = "unreadable" // permissions or the system prevent reading
	isDamaged     state.Reason = "damaged"    // it can be read but not understood
	isNewer       state.Reason = "newer"      // a newer version wrote it
	isCopy        state.Reason = "copy"       // another file of the same task counts
	isForeign     state.Reason = "foreign"    // its name is not one of ours
	isUnknown     state.Reason = "unknown"    // it has keys that this version does not know
	isShared      state.Reason = "shared"     // several tasks have it
	isQuarantined state.Reason = "aside"      // it was set aside
	isLeft        state.Reason = "left"       // who it belonged to is no more
	isGone        state.Reason = "gone"       // it should be there
	isUnusable    state.Reason = "unusable"   // it exists and cannot be used as it should be
	isFull        state.Reason = "full"       // there is little or no room left
	isRemote      state.Reason = "remote"     // it is on another machine
	isHeld        state.Reason = "held"       // somebody holds it
	isLimited     state.Reason = "limited"    // the system gives us no more files
)

// Inspections returns what to look at. They work best on a store that was opened with Inspect.
func (s *Store) Inspections() []state.Inspection {
	return []state.Inspection{
		{Name: "folder", Look: s.lookAtFolders},
		{Name: "disk", Look: s.lookAtDisk},
		{Name: "lock", Look: s.lookAtLock},
		{Name: "files", Look: s.lookAtFiles},
		{Name: "aside", Look: s.lookAtQuarantine},
		{Name: "ledger", Look: s.lookAtLedger},
		{Name: "mail", Look: s.lookAtMail},
		{Name: "keys", Look: s.lookAtKeys},
		{Name: "leftovers", Look: s.lookAtLeftovers},
	}
}

// quoted writes a path for pasting into a shell.
func quoted(path string) string { return state.ShellLine([]string{path}) }

// moreFiles is the hint if the process cannot open more files. What could not be looked at is then
// not at fault.
const moreFiles = "raise the limit of open files: ulimit -n 1024 (or close some programs), and call again"

// adviceOn returns the hint for an error, or none if the error says nothing about the file.
func adviceOn(err error, hint string) string {
	if outOfFiles(err) {
		return moreFiles
	}
	return hint
}

func outOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// fault turns a reader's error about a file or folder into a finding that says how to mend it.
func (s *Store) fault(path string, err error) state.Finding {
	f := state.Finding{Level: state.Wrong, Subject: path}
	var unsafe *guard.Error
	var where *fs.PathError
	switch {
	case errors.As(err, &unsafe):
		f.Reason, f.Text, f.Hint = state.Reason(unsafe.Reason), unsafe.Text, unsafe.Hint()
		if unsafe.Reason == guard.OthersWrite {
			f.Mend = chmod(unsafe.Path, "go-w")
		}
	case outOfFiles(err):
		f.Reason, f.Text, f.Hint = isLimited, err.Error(), moreFiles
	case errors.Is(err, state.ErrNewer):
		f.Reason, f.Text, f.Hint = isNewer, path+" was "+reasonOf(err), "use the newer ouro-timer that wrote it"
	case errors.Is(err, state.ErrCopy):
		f.Level, f.Reason, f.Text = state.Odd, isCopy, path+" "+reasonOf(err)
	case garbled(err):
		f.Reason, f.Text, f.Hint = isDamaged, path+" "+reasonOf(err), "look at it: ls -l "+quoted(path)
	case errors.Is(err, fs.ErrPermission):
		if errors.As(err, &where) {
			path = where.Path
		}
		how := "u+rw"
		if isFolder(path) {
			how = "u+rwx"
		}
		f.Reason, f.Text, f.Hint, f.Mend = isUnreadable, path+" may not be read", "chmod "+how+" "+quoted(path), givenBack(path, how)
	default:
		f.Reason, f.Text, f.Hint = isUnreadable, path+": "+reasonOf(err), "look at it: ls -l "+quoted(path)
	}
	return f
}

// chmod changes the permissions of a path as chmod(1) does with go-w, u+rw and u+rwx.
func chmod(path, how string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		mode := info.Mode()
		switch how {
		case "go-w":
			mode &^= 0o022
		case "u+rw":
			mode |= 0o600
		case "u+rwx":
			mode |= 0o700
		}
		return "chmod " + how + " " + quoted(path), os.Chmod(path, mode)
	}
}

// givenBack lets the owner of a file or a folder use it. It is nil if the path is another user's,
// or a link.
func givenBack(path, how string) func(context.Context) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return nil
	}
	if uid, ok := guard.Owner(info); !ok || uid != os.Geteuid() {
		return nil
	}
	return chmod(path, how)
}

// mending is a mend that needs the state lock, and all that an earlier writer committed applied. It
// refuses what every writer refuses. It reports what it finds mended on the way, unless told says
// that this is what was to be mended.
func (s *Store) mending(told func(state.Problem) bool, do func(t *tx) (string, error)) func(context.Context) (string, error) {
	return func(ctx context.Context) (done string, err error) {
		strict, err := Open(s.dir, Options{LockWait: max(s.lock.Wait, untouched), disk: s.disk, volume: s.volume, Report: func(p state.Problem) {
			if told == nil || !told(p) {
				s.report(p)
			}
		}})
		if err != nil {
			return "", err
		}
		err = strict.transact(ctx, func(t *tx) (err error) { done, err = do(t); return err })
		return done, err
	}
}

// removing removes a file that nobody needs, unless keep, which is called under the lock, objects.
func (s *Store) removing(place string, keep func(t *tx) error) func(context.Context) (string, error) {
	return s.mending(nil, func(t *tx) (string, error) {
		if _, err := os.Lstat(t.path(place)); missing(err) {
			return t.path(place) + " is gone", nil
		}
		if err := keep(t); err != nil {
			return "", err
		}
		return "rm " + quoted(t.path(place)), t.disk.remove(t.path(place))
	})
}

// lookAtFolders checks owners, permissions and links.
func (s *Store) lookAtFolders(_ context.Context, tell func(state.Finding)) string {
	if err := guard.Above(s.dir); err != nil {
		var unsafe *guard.Error
		if errors.As(err, &unsafe) { // otherwise the folder itself is reported
			f := s.fault(s.dir, err)
			f.Mend = nil // it is not ours alone
			tell(f)
		}
	}
	err := s.lookAtFolder(s.dir, guard.Home, tell)
	if _, at := os.Lstat(s.dir); missing(err) && at == nil {
		tell(state.Finding{Level: state.Wrong, Reason: state.Reason(guard.Link), Subject: s.dir, Text: s.dir + " is a link that leads nowhere",
			Hint: "rm " + quoted(s.dir) + ", or make what it leads to"})
	} else if missing(err) {
		return s.dir + " is not there yet; the first task makes it"
	}
	if err != nil {
		return ""
	}
	for _, place := range folders { // the next writer makes missing ones
		if err := s.lookAtFolder(s.path(place), guard.Folder, tell); missing(err) && place == queueDir && s.queueGone() {
			tell(s.vanishedFinding())
		}
	}
	for _, place := range mainFiles {
		if err := guard.Plain(s.path(place)); err != nil {
			tell(s.fault(s.path(place), err))
		}
	}
	return s.dir + " is yours alone and can be written"
}

// lookAtFolder checks one of our folders. It returns why the folder's content cannot be looked at,
// and tells that unless it is os.ErrNotExist.
func (s *Store) lookAtFolder(path string, trusted func(string) error, tell func(state.Finding)) error {
	err := trusted(path)
	var unsafe *guard.Error
	switch {
	case missing(err):
		return err
	case errors.As(err, &unsafe) && unsafe.Reason == guard.OthersWrite:
		tell(s.fault(path, err))
	case err != nil:
		f := s.fault(path, err)
		if f.Mend == nil && f.Reason == isUnreadable {
			f.Hint = "see who may enter the folders above it, or set OURO_HOME to a folder of yours"
		}
		tell(f)
		return err
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o700 != 0o700 {
		tell(state.Finding{Level: state.Wrong, Reason: isUnusable, Subject: path, Hint: "chmod u+rwx " + quoted(path), Mend: chmod(path, "u+rwx"),
			Text: fmt.Sprintf("%s has the permissions %04o: its owner cannot use it", path, info.Mode().Perm())})
		return nil
	}
	if err := guard.Writable(path); err != nil {
		hint := "set OURO_HOME to a folder that can be written"
		if readOnly(err) {
			hint = "make the file system writable, or set OURO_HOME to a folder on another one"
		}
		tell(state.Finding{Level: state.Wrong, Reason: isUnusable, Subject: path, Text: fmt.Sprintf("%s cannot be written: %v", path, err), Hint: hint})
	}
	return nil
}

// vanishedFinding tells that the queue is gone, and how many tasks with it.
func (s *Store) vanishedFinding() state.Finding {
	path := s.path(queueDir)
	alive, err := s.alive()
	text := fmt.Sprintf("%s is gone; the ledger knows of %d tasks that were made and have not ended", path, alive)
	if err != nil {
		text = fmt.Sprintf("%s is gone, and the ledger, which knows of tasks, cannot be read: %v", path, err)
	}
	return state.Finding{Level: state.Wrong, Reason: isGone, Subject: path, Text: text, Hint: "put it back, or go on without them: mkdir -m 700 " + quoted(path)}
}

// alive returns how many tasks have not ended, as far as the ledger knows.
func (s *Store) alive() (n int, err error) {
	// ran: an occurrence has ended, which is the end of a one-shot. decided: older lines change
	// nothing.
	const unknown, ran, decided = 0, 1, 2
	tasks := map[string]int{}
	err = s.history("", func(e ledger.Entry) bool {
		now := tasks[e.TaskID]
		switch {
		case e.TaskID == "" || now == decided:
			return true
		case e.Type == state.LineOccurrence && e.Stop != "", e.Event == state.EventRemoved, e.Event == state.EventFinished:
			now = decided
		case e.Type == state.LineOccurrence:
			now = ran
		case e.Type == state.LineTask && e.Schedule != nil:
			// the newest line that says how the task recurs
			if now == unknown || e.Schedule.Kind != "once" {
				n++
			}
			now = decided
		}
		tasks[e.TaskID] = now
		return true
	})
	return n, err
}

// The room on the file system that is worth a warning, and the room below which nothing can be
// scheduled.
const (
	littleRoom, noRoom   = 64 << 20, 1 << 20
	littleFiles, noFiles = 1000, 16
)

// lookAtDisk checks the file system: its room and its owner.
func (s *Store) lookAtDisk(_ context.Context, tell func(state.Finding)) string {
	v, err := s.Volume()
	if err != nil {
		f := s.fault(s.dir, err)
		f.Text, f.Hint, f.Mend = err.Error(), adviceOn(err, "see who may enter the folders above it, or set OURO_HOME to a folder of yours"), nil
		tell(f)
		return ""
	}
	room := "make room on the disk: df -h " + quoted(s.dir)
	files := "remove files on that disk: df -i " + quoted(s.dir)
	for _, row := range []struct {
		holds  bool
		level  state.Level
		reason state.Reason
		text   string
		hint   string
	}{
		{v.Free >= 0 && v.Free < noRoom, state.Wrong, isFull, fmt.Sprintf("the disk is full: %d KiB are left", v.Free>>10), room},
		{v.Free >= noRoom && v.Free < littleRoom, state.Odd, isFull, fmt.Sprintf("the disk is nearly full: %d MiB are left", v.Free>>20), room},
		{v.Inodes >= 0 && v.Inodes < noFiles, state.Wrong, isFull, fmt.Sprintf("the file system has room for %d files more, and a task needs one", v.Inodes), files},
		{v.Inodes >= noFiles && v.Inodes < littleFiles, state.Odd, isFull, fmt.Sprintf("the file system has room for %d files more", v.Inodes), files},
		{v.Network, state.Odd, isRemote, v.Warning(s.dir), "set OURO_HOME to a folder on a disk of this machine"},
	} {
		if row.holds {
			tell(state.Finding{Level: row.level, Reason: row.reason, Subject: s.dir, Text: row.text, Hint: row.hint})
		}
	}
	text := "the file system has room"
	if v.Free >= 0 {
		text = fmt.Sprintf("%d MiB are left", v.Free>>20)
	}
	if v.Kind != "" {
		text += " (" + v.Kind + ")"
	}
	return text
}

// lookAtLock takes the state lock as a writer does, and releases it.
func (s *Store) lookAtLock(ctx context.Context, tell func(state.Finding)) string {
	const free = "the state lock is free"
	path := s.path(lockFile)
	unlock, err := s.lock.Exclusive(ctx, nil)
	var busy *lock.BusyError
	switch {
	case err == nil:
		unlock()
	case missing(err), ctx.Err() != nil:
	case errors.As(err, &busy):
		f := state.Finding{Level: state.Wrong, Reason: isHeld, Subject: path, Hint: "find it: fuser " + quoted(path),
			Text: fmt.Sprintf("%s has held the state lock for %v; nothing can be scheduled or run meanwhile", busy.Holder, busy.Waited)}
		switch {
		case busy.Stopped:
			f.Hint = fmt.Sprintf("let it go on: kill -CONT %d", busy.PID)
		case busy.PID > 0:
			f.Hint = fmt.Sprintf("let it go on, or end it: kill -CONT %d; kill %[1]d", busy.PID)
		}
		tell(f)
		if s.inspect {
			s.lock.Wait = time.Millisecond // the checks after this one do not wait again
		}
	default:
		f := s.fault(path, err)
		f.Text, f.Hint = "the state lock cannot be looked at: "+err.Error(), adviceOn(err, "set OURO_HOME to a folder on a file system with locks")
		if unwritable(err) { // which is said of the folder
			f.Level, f.Hint = state.Odd, adviceOn(err, "chmod u+rw "+quoted(path))
		}
		tell(f)
	}
	return free
}

// lookAtLedger reads the whole ledger.
func (s *Store) lookAtLedger(ctx context.Context, tell func(state.Finding)) string {
	lines, cut := 0, s.cutOff(ctx)
	_, problems, err := s.Log(ctx, "", func(state.Line) bool { lines++; return true })
	if err != nil {
		tell(s.fault(s.path(ledgerFile), err))
		return ""
	}
	for _, p := range problems {
		f := state.Finding{Level: state.Odd, Reason: isDamaged, Subject: p.Path, Text: p.Error() + "; " + p.Hint,
			Hint: "nothing can bring it back; ouro-timer log shows what came before and after"}
		if errors.Is(p, state.ErrTorn) {
			f.Hint = "nothing: the next change does it"
			// it is what is mended
			f.Mend = s.mending(func(other state.Problem) bool { return other.Path == p.Path },
				func(*tx) (string, error) { return "cut the torn line off " + p.Path, nil })
		}
		tell(f)
	}
	if cut > 0 {
		tell(state.Finding{Level: state.Odd, Reason: isDamaged, Subject: s.path(ledgerFile),
			Text: fmt.Sprintf("%s is %d bytes shorter than when it was last written: lines that were confirmed have been cut off", s.path(ledgerFile), cut),
			Hint: "put it back from a copy, or see what is missing: ouro-timer log --audit"})
	}
	text := plain.Plural(lines, "line") + " of the ledger can be read"
	if g, _, err := s.Gone(ctx); err == nil && g.Lines > 0 {
		text += fmt.Sprintf("; %d before them were dropped, as [keep] in config.toml has it", g.Lines)
	}
	return text
}

// cutOff is by how many bytes the ledger is shorter than the log of commits says, because somebody
// has cut it; 0 when it is not, or when that is not known.
func (s *Store) cutOff(ctx context.Context) (n int64) {
	_ = s.share(ctx, func() error {
		n = 0
		log, err := s.openLog(false)
		if err != nil {
			return err
		}
		defer log.Close()
		info, err := os.Lstat(s.path(ledgerFile))
		switch {
		case !log.applied(s.boot()) || s.justRotated(log.head.Ledger):
		case missing(err):
			n = log.head.Ledger
		case err == nil && info.Mode().IsRegular():
			n = max(log.head.Ledger-info.Size(), 0)
		}
		return err
	})
	return n
}

// justRotated reports whether a file of the ledger was begun by a process that died before it wrote
// into the log of commits how long it is: size is how long the part before it is.
func (s *Store) justRotated(size int64) bool {
	p, err := s.ledger.Open(ledger.Name)
	if err != nil {
		return false
	}
	defer p.Close()
	before, err := os.Lstat(s.path(runsDir + "/" + p.Before))
	return err == nil && p.Before != "" && before.Size() == size
}

// lookAtLeftovers looks for files that a process was writing when it died, and for notes of claims
// that are gone.
func (s *Store) lookAtLeftovers(_ context.Context, tell func(state.Finding)) string {
	for _, dir := range append([]string{endedDir, removedDir}, sweptDirs...) {
		places, err := s.remains(dir)
		if err != nil {
			tell(s.fault(s.path(dir), err))
		}
		for _, place := range places {
			if info, err := os.Lstat(s.path(place)); err != nil || !alone(info, untouched) {
				continue
			}
			tell(state.Finding{Level: state.Odd, Reason: isLeft, Subject: s.path(place), Text: s.path(place) + " was left by a process that died",
				Hint: "nothing: the next runner removes it", Mend: s.removing(place, func(*tx) error { return nil })})
		}
	}
	return "no dead process left a file"
}

// unknownKeys are the keys of a task's file that this version does not know. Only examinations
// report them.
type unknownKeys []string

func (k unknownKeys) Error() string {
	return "has keys that this version does not know: " + strings.Join(k, ", ") + " (they are kept)"
}
