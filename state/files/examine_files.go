package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
	"github.com/ouro-timer/ouro-timer/state/guard"
)

// seen is a task's file as the examination read it.
type seen struct {
	found
	task    state.Task
	unknown []string // keys this version does not know
	err     error
	info    os.FileInfo
}

// lookAtFiles reads every task's file, one after the other.
func (s *Store) lookAtFiles(ctx context.Context, tell func(state.Finding) bool) {
	var files [len(taskDirs)][]string
	var all names
	for i, dir := range taskDirs {
		err := s.look(ctx, func() (err error) {
			files[i], err = readNames(s.path(dir))
			return err
		})
		if err != nil {
			tell(wrong(err, "chmod u+rwx "+quoted(s.path(dir))))
			continue
		}
		slices.Sort(files[i])
		for _, file := range files[i] {
			if _, ok := parseTask(dir, file); ok {
				all.tasks = append(all.tasks, listed{file: file, dir: uint8(i)})
			}
		}
	}
	count, foreign := 0, 0
	var odd, unknown []state.Finding
	doubles := all.doubles()
	groups := map[string][]seen{}    // the files of those
	holders := map[string][]string{} // the tasks that have a key
	for i, dir := range taskDirs {
		for _, file := range files[i] {
			if ctx.Err() != nil {
				return
			}
			task, ok := parseTask(dir, file)
			switch {
			case ok:
			case s.ours(dir, file):
				continue
			default:
				if f, isTask := s.misnamed(dir, file); isTask {
					odd = append(odd, f)
				} else {
					foreign++
				}
				continue
			}
			f := s.see(task)
			if missing(f.err) {
				continue // it has moved since
			}
			count++
			if len(f.unknown) > 0 {
				unknown = append(unknown, state.Finding{Level: state.Odd, Text: fmt.Sprintf("%s has keys that this version does not know: %s (they are kept)",
					s.path(f.place()), strings.Join(f.unknown, ", ")), Hint: "if they are mistyped, mend them; docs/state.md lists those there are"})
			}
			odd = append(odd, s.faults(f)...)
			if _, more := doubles[f.id]; more {
				groups[f.id] = append(groups[f.id], f)
			} else {
				f.holds(holders)
			}
		}
	}
	for _, group := range groups {
		odd = append(odd, s.copies(group)...)
		newest(group).holds(holders)
	}
	odd = append(odd, sharedKeys(holders)...)
	slices.SortStableFunc(odd, func(a, b state.Finding) int { return strings.Compare(a.Text, b.Text) })
	if !tellMany(odd, "more task files have something wrong", tell) || !tellMany(unknown, "more task files have keys that this version does not know", tell) {
		return
	}
	if len(odd)+len(unknown) == 0 {
		text := fmt.Sprintf("%d task files can be read", count)
		if foreign > 0 {
			text += fmt.Sprintf("; %d other files beside them are ignored", foreign)
		}
		tell(state.Finding{Level: state.Fine, Text: text})
	}
}

// tellMany tells findings of one kind one by one, and the rest as one, which mends them all. It needs them to be alike.
func tellMany(list []state.Finding, more string, tell func(state.Finding) bool) bool {
	for i, f := range list {
		if i < manyFindings || i == len(list)-1 {
			if !tell(f) {
				return false
			}
			continue
		}
		rest := list[i:]
		all := state.Finding{Level: f.Level, Text: fmt.Sprintf("%d %s", len(rest), more), Hint: "mend those first, and call doctor again"}
		for _, r := range rest {
			if r.Level == state.Wrong {
				all.Level = state.Wrong
			}
			if r.Mend != nil {
				all.Mend = mendAll(rest)
			}
		}
		return tell(all)
	}
	return true
}

func mendAll(list []state.Finding) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		mended, left := 0, 0
		var first error
		for _, f := range list {
			if f.Mend == nil {
				left++
				continue
			}
			if _, err := f.Mend(ctx); err != nil {
				first = cmp.Or(first, err)
				left++
				continue
			}
			mended++
		}
		if left > 0 {
			return "", fmt.Errorf("%d were mended, %d were not: %w", mended, left, cmp.Or(first, errors.New("they need you")))
		}
		return fmt.Sprintf("mended %d", mended), nil
	}
}

// ours reports whether a name in a folder of tasks is of something else that belongs there.
func (s *Store) ours(dir, file string) bool {
	place := dir + "/" + file
	return slices.Contains(folders, place) || place == lockFile || place == counterFile || strings.HasPrefix(file, tempPrefix)
}

// see reads a task's file.
func (s *Store) see(f found) seen {
	r := seen{found: f}
	path := s.path(f.place())
	if r.info, r.err = os.Lstat(path); r.err != nil {
		return r
	}
	data, err := readFile(path, state.TaskLimit)
	if err != nil {
		r.err = err
		return r
	}
	unknown, err := taskIn(data, f.id, &r.task)
	r.err, r.unknown = err, codec.Names(unknown)
	return r
}

// faults are what is wrong with one task's file.
func (s *Store) faults(f seen) (list []state.Finding) {
	path := s.path(f.place())
	why := ""
	if f.err != nil {
		why = reasonOf(f.err, path)
	}
	switch {
	case f.err == nil:
	case errors.Is(f.err, state.ErrNewer):
		list = append(list, state.Finding{Level: state.Wrong, Text: path + " was " + why, Hint: "use the newer ouro-timer that wrote it"})
	case garbled(f.err):
		list = append(list, state.Finding{Level: state.Wrong, Text: path + " " + why + "; its task does not run", Hint: "mend it, or move it away: mv " +
			quoted(path) + " " + quoted(s.path(corruptDir)) + "/", Mend: s.putAside(broken{f.found, f.err, f.info})})
	case errors.Is(f.err, os.ErrPermission):
		list = append(list, state.Finding{Level: state.Wrong, Text: path + " may not be read; its task does not run", Hint: "chmod u+rw " + quoted(path),
			Mend: givenBack(path, f.info)})
	case outOfFiles(f.err):
		list = append(list, wrong(f.err, ""))
	default:
		list = append(list, state.Finding{Level: state.Wrong, Text: path + ": " + why + "; its task does not run", Hint: "look at it: ls -l " + quoted(path)})
	}
	if f.info == nil || !f.info.Mode().IsRegular() || runtime.GOOS == "windows" {
		return list
	}
	if uid, ok := guard.Owner(f.info); ok && uid != os.Geteuid() && uid != 0 {
		list = append(list, state.Finding{Level: state.Wrong, Text: fmt.Sprintf("%s belongs to user %d, who could have anything run in your name; its task does not run", path, uid),
			Hint: "look at it, then: cp " + quoted(path) + " " + quoted(path+".mine") + " && mv " + quoted(path+".mine") + " " + quoted(path)})
	}
	if mode := f.info.Mode(); mode.Perm()&0o022 != 0 {
		list = append(list, state.Finding{Level: state.Wrong, Text: path + " can be written by others, who could have anything run in your name; its task does not run",
			Hint: "look at it, then: chmod go-w " + quoted(path), Mend: func(context.Context) (string, error) {
				return "chmod go-w " + quoted(path), os.Chmod(path, mode.Perm()&^0o022)
			}})
	}
	return list
}

// givenBack lets the owner of a file read and write it; nil when it is another's.
func givenBack(path string, info os.FileInfo) func(context.Context) (string, error) {
	if info == nil || !info.Mode().IsRegular() {
		return nil
	}
	if uid, ok := guard.Owner(info); !ok || uid != os.Geteuid() {
		return nil
	}
	return func(context.Context) (string, error) {
		return "chmod u+rw " + quoted(path), os.Chmod(path, info.Mode().Perm()|0o600)
	}
}

// misnamed tells of a file that holds a task under a name that is no task's: it is in no list and never runs.
func (s *Store) misnamed(dir, file string) (state.Finding, bool) {
	path := s.path(dir + "/" + file)
	if strings.HasPrefix(file, ".") || filepath.Ext(file) != suffix {
		return state.Finding{}, false // an editor's copies have other names
	}
	data, err := readFile(path, state.TaskLimit)
	if err != nil {
		return state.Finding{}, false
	}
	task, _, err := codec.DecodeTask(data)
	if err != nil || !state.WholeID(task.ID) {
		return state.Finding{}, false
	}
	f := state.Finding{Level: state.Wrong, Text: fmt.Sprintf("%s holds task %s and has no task's name, so it never runs", path, task.ID),
		Hint: "look when it is to run (ouro-timer log " + task.ID + "), and name it DUE." + task.ID + suffix + ", DUE in UTC as in docs/state.md"}
	if due, ok := s.meantDue(file, task); ok {
		if n, err := nameOf(task.ID, due); err == nil {
			f.Hint = "mv " + quoted(path) + " " + quoted(s.path(dir+"/"+n.queue()))
		}
	}
	return f, true
}

// someInstant is an instant in UTC as people write it into names, whole to the second or finer.
var someInstant = regexp.MustCompile(`(\d{4})-?(\d\d)-?(\d\d)T(\d\d)[:.-]?(\d\d)[:.-]?(\d\d(?:\.\d{1,9})?)Z`)

// meantDue is when a task is due whose file has no task's name: as the name says all the same, or the wall clock in the file, or the
// last change of the task in the ledger when no occurrence has come after it.
func (s *Store) meantDue(file string, task state.Task) (time.Time, bool) {
	if m := someInstant.FindStringSubmatch(file); m != nil {
		if t, err := time.Parse("20060102T150405Z", strings.Join(m[1:4], "")+"T"+strings.Join(m[4:], "")+"Z"); err == nil {
			return t, true
		}
	}
	if !task.Recurring() && task.When.Wall != "" {
		zone, err := time.LoadLocation(task.When.Zone)
		if t, bad := time.ParseInLocation(state.WallForm, task.When.Wall, zone); err == nil && bad == nil {
			return t.UTC(), true
		}
	}
	var due *time.Time
	err := s.history(task.ID, func(e ledger.Entry) bool {
		if e.Type == state.LineTask {
			due = e.Due
		}
		return false
	})
	if err != nil || due == nil {
		return time.Time{}, false
	}
	return *due, true
}

// copies are the files of one task but for the one that counts.
func (s *Store) copies(group []seen) (list []state.Finding) {
	if len(group) < 2 {
		return nil
	}
	var files []found
	for _, f := range group {
		files = append(files, f.found)
	}
	win, _ := s.winner(files)
	for _, f := range group {
		if f.found == win || f.err != nil {
			continue
		}
		path := s.path(f.place())
		list = append(list, state.Finding{Level: state.Odd, Text: fmt.Sprintf("%s is an older copy of task %s; %s counts", path, f.id, s.path(win.place())),
			Hint: "mv " + quoted(path) + " " + quoted(s.path(corruptDir)) + "/", Mend: s.putAside(broken{f.found, state.ErrCopy, f.info})})
	}
	return list
}

// newest is the file of a task with the highest revision.
func newest(group []seen) (win seen) {
	win = group[0]
	for _, f := range group[1:] {
		if f.err == nil && (win.err != nil || f.task.Revision > win.task.Revision) {
			win = f
		}
	}
	return win
}

// holds notes who has the key of a task that lives, if it has one.
func (f seen) holds(holders map[string][]string) {
	if f.err == nil && f.task.Key != "" && (f.dir == queueDir || f.dir == pausedDir) {
		key := strings.Clone(f.task.Key) // and not the file, of which it is a part
		holders[key] = append(holders[key], f.id)
	}
}

// sharedKeys tells of tasks that live and have one key, as after a file was put back by hand.
func sharedKeys(holders map[string][]string) (list []state.Finding) {
	for key, ids := range holders {
		if len(ids) < 2 {
			continue
		}
		slices.Sort(ids)
		list = append(list, state.Finding{Level: state.Wrong, Text: fmt.Sprintf("tasks %s have the same key, %q", strings.Join(ids, " and "), key),
			Hint: "look at them, and keep one: ouro-timer rm " + strings.Join(ids, ", or ouro-timer rm ")})
	}
	return list
}

// putAside moves a file to those that were set aside, unless somebody is at it.
func (s *Store) putAside(b broken) func(context.Context) (string, error) {
	path := s.path(b.place())
	return s.mending(func(t *tx) (string, error) {
		now, err := os.Lstat(path)
		switch {
		case missing(err):
			return path + " is gone", nil
		case err != nil:
			return "", err
		case !alone(now, settled) || !now.ModTime().Equal(b.info.ModTime()) || now.Size() != b.info.Size():
			return "", fmt.Errorf("%s was changed within the last %v, perhaps by somebody who mends it; run it again", path, settled)
		}
		p, err := t.setAside(b)
		if err != nil {
			return "", err
		}
		return "mv " + quoted(path) + " " + quoted(p.Path), nil
	})
}

// lookAtLedger reads the whole ledger.
func (s *Store) lookAtLedger(ctx context.Context, tell func(state.Finding) bool) {
	lines := 0
	end, err := s.tail()
	if err != nil {
		tell(wrong(err, "chmod u+rw "+quoted(s.path(ledgerFile))))
		return
	}
	_, problems, err := s.Log(ctx, "", func(state.Line) bool { lines++; return true })
	if err != nil {
		tell(wrong(err, "chmod u+rw "+quoted(s.path(ledgerFile))))
		return
	}
	var list []state.Finding
	for i, p := range problems {
		f := state.Finding{Level: state.Odd, Text: p.Error() + "; " + p.Hint}
		if i == 0 && end.Torn > 0 { // the newest comes first
			f.Hint = "nothing: the next change does it"
			f.Mend = s.mendingBut(func(other state.Problem) bool { return other.Path == p.Path }, // it is what is mended
				func(t *tx) (string, error) { return "cut the torn line off " + p.Path, nil })
		} else {
			f.Hint = "nothing can bring it back; ouro-timer log shows what came before and after"
		}
		list = append(list, f)
	}
	if !tellMany(list, "more lines of the ledger cannot be read", tell) {
		return
	}
	if len(list) > 0 {
		return
	}
	text := fmt.Sprintf("%d lines of the ledger can be read", lines)
	if g, _, err := s.Gone(ctx); err == nil && g.Lines > 0 {
		text += fmt.Sprintf("; %d before them were dropped, as [keep] in config.toml has it", g.Lines)
	}
	tell(state.Finding{Level: state.Fine, Text: text})
}

// lookAtKeys looks for keys of tasks that are no more.
func (s *Store) lookAtKeys(ctx context.Context, tell func(state.Finding) bool) {
	var keys []string
	var all *names
	err := s.look(ctx, func() (err error) {
		if keys, err = readNames(s.path(keysDir)); err == nil {
			all, err = s.list(everything, "")
		}
		return err
	})
	if err != nil {
		tell(wrong(err, "chmod u+rwx "+quoted(s.path(keysDir))))
		return
	}
	if len(keys) == 0 {
		return
	}
	known := make(map[string]bool, len(all.tasks))
	for id := range all.ids(nil) {
		known[id] = true
	}
	var list []state.Finding
	slices.Sort(keys)
	for _, file := range keys {
		if strings.HasPrefix(file, ".") {
			continue
		}
		place := keysDir + "/" + file
		id, err := s.keyOf(place)
		if err == nil && !known[id] {
			aside, err := s.asideOf(id)
			if err != nil || len(aside) > 0 {
				continue // it may come back
			}
		}
		switch {
		case missing(err), err == nil && known[id]:
			continue
		case err != nil:
			list = append(list, state.Finding{Level: state.Odd, Text: s.path(place) + " cannot be read, so that adding a task with that key is slow", Hint: "rm " + quoted(s.path(place)),
				Mend: s.dropKey(place, "")})
		default:
			list = append(list, state.Finding{Level: state.Odd, Text: fmt.Sprintf("%s is the key of task %s, which is no more", s.path(place), id), Hint: "nothing: it is in nobody's way",
				Mend: s.dropKey(place, id)})
		}
	}
	tellMany(list, "more keys are no task's", tell)
}

// keyOf is the task that a key's file names.
func (s *Store) keyOf(place string) (id string, err error) {
	data, err := readFile(s.path(place), keyMost)
	if err != nil {
		return "", err
	}
	id, _, _ = strings.Cut(strings.TrimSpace(string(data)), " ")
	if !state.WholeID(id) {
		return "", codec.ErrBroken
	}
	return id, nil
}

// dropKey removes a key's file that still names a task that is no more; one that names none is found again when it is used.
func (s *Store) dropKey(place, was string) func(context.Context) (string, error) {
	return s.mending(func(t *tx) (string, error) {
		id, err := t.keyOf(place)
		if missing(err) {
			return s.path(place) + " is gone", nil
		}
		if err == nil {
			_, err := t.doc(state.Change{ID: id})
			aside, asideErr := t.asideOf(id)
			if id != was || !errors.Is(err, state.ErrNotFound) || asideErr != nil || len(aside) > 0 {
				return "", fmt.Errorf("%s was taken in the meantime", s.path(place))
			}
		} else if t.anyKeyed(place) {
			return "", fmt.Errorf("%s belongs to a task; it is written anew when that changes", s.path(place))
		}
		return "rm " + quoted(s.path(place)), t.disk.remove(t.path(place))
	})
}

// anyKeyed reports whether a task has the key of that file, or may have.
func (t *tx) anyKeyed(place string) bool {
	all, err := t.list(everything, "")
	if err != nil {
		return true
	}
	for f := range all.found() {
		task, err := t.readTask(f.place(), f.id)
		if err == nil && task.Key != "" && keyPlace(task.Key) == place {
			return true
		}
	}
	return false
}

// lookAtLeftovers looks for files that a process was writing when it died, and for notes of claims that are no more.
func (s *Store) lookAtLeftovers(ctx context.Context, tell func(state.Finding) bool) {
	var list []state.Finding
	for _, dir := range []string{queueDir, pausedDir, endedDir, removedDir, keysDir, originsDir, runsDir, tallyDir, openDir, inboxDir, outboxDir} {
		files, err := readNames(s.path(dir))
		if err != nil {
			tell(wrong(err, "chmod u+rwx "+quoted(s.path(dir))))
			continue
		}
		slices.Sort(files)
		for _, file := range files {
			place := dir + "/" + file
			if !strings.HasPrefix(file, tempPrefix) && !s.orphan(dir, file) || !s.old(place) {
				continue
			}
			list = append(list, state.Finding{Level: state.Odd, Text: s.path(place) + " was left by a process that died", Hint: "nothing: the next runner removes it",
				Mend: s.mending(func(t *tx) (string, error) {
					if err := t.disk.remove(t.path(place)); err != nil && !missing(err) {
						return "", err
					}
					return "rm " + quoted(s.path(place)), nil
				})})
		}
	}
	tellMany(list, "more files were left by processes that died", tell)
}

// orphan reports whether a file is a note beside a record that is not there.
func (s *Store) orphan(dir, file string) bool {
	if dir != openDir {
		return false
	}
	record, ok := strings.CutSuffix(file, ".pid")
	if !ok {
		record, ok = strings.CutSuffix(file, ".halt")
	}
	if !ok {
		return false
	}
	_, err := os.Lstat(s.path(dir + "/" + record + suffix))
	return missing(err)
}

// old reports whether a file has been left alone for a while.
func (s *Store) old(place string) bool {
	info, err := os.Lstat(s.path(place))
	return err == nil && alone(info, settled)
}
