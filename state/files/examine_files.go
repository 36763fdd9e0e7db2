package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// lookAtFiles reads every task, and checks the other names in the folders.
func (s *Store) lookAtFiles(ctx context.Context, tell func(state.Finding)) string {
	foreign := s.lookAtNames(tell)
	count := 0
	holders := map[string][]string{} // the tasks that live, by key
	problems, err := state.Each(ctx, s, func(e state.Entry) bool {
		count++
		if e.Task.Key != "" && (e.Phase == state.Pending || e.Held || e.Phase == state.Running && e.Task.Recurring()) {
			key := strings.Clone(e.Task.Key) // a copy: the key is a part of the whole file's text
			holders[key] = append(holders[key], e.Task.ID)
		}
		return true
	})
	if err != nil {
		tell(s.fault(s.path(queueDir), err))
		return ""
	}
	for _, p := range problems {
		// else it is not a task
		if place, err := filepath.Rel(s.dir, p.Path); err == nil && slices.Contains(taskDirs[:], path.Dir(filepath.ToSlash(place))) {
			tell(s.taskFault(filepath.ToSlash(place), p))
		}
	}
	for key, ids := range holders { // it can happen after a file was put back by hand
		if len(ids) > 1 {
			slices.Sort(ids)
			tell(state.Finding{Level: state.Wrong, Reason: isShared, Subject: key, Text: fmt.Sprintf("tasks %s have the same key, %q", strings.Join(ids, " and "), key),
				Hint: "look at them, and keep one: ouro-timer rm " + strings.Join(ids, ", or ouro-timer rm ")})
		}
	}
	text := plain.Plural(count, "task file") + " can be read"
	if foreign > 0 {
		text += "; " + plain.Plural(foreign, "other file") + " beside them, ignored"
	}
	return text
}

// taskFault turns a problem of a task's readers into a finding.
func (s *Store) taskFault(place string, p state.Problem) state.Finding {
	f := s.fault(p.Path, p.Err)
	at, _ := placed(place)
	away := "mv " + quoted(p.Path) + " " + quoted(s.path(corruptDir)) + "/"
	var unknown unknownKeys
	switch {
	case errors.As(p, &unknown):
		f.Level, f.Reason, f.Text = state.Odd, isUnknown, p.Path+" "+unknown.Error()
		f.Hint = "if they are mistyped, mend them; docs/state.md lists those there are"
		return f
	case f.Reason == isCopy:
		f.Text, f.Hint, f.Mend = p.Path+" is an older copy of task "+at.id+", which has another file", away, s.quarantineFix(at, p.Err)
		return f
	case f.Reason == isDamaged:
		f.Hint, f.Mend = "mend it, or move it away: "+away, s.quarantineFix(at, p.Err)
	case f.Reason == isLimited, f.Reason == isNewer:
		return f
	}
	f.Text += "; its task does not run"
	return f
}

// quarantineFix sets a file aside, unless somebody is editing it.
func (s *Store) quarantineFix(f found, why error) func(context.Context) (string, error) {
	path := s.path(f.place())
	was, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	return s.mending(nil, func(t *tx) (string, error) {
		if now, err := os.Lstat(path); missing(err) {
			return path + " is gone", nil
		} else if err == nil && !alone(now, untouched) {
			return "", fmt.Errorf("%s was changed within the last %v, perhaps by somebody who mends it; run it again", path, untouched)
		}
		p, err := t.quarantine(broken{f, why, was})
		if err != nil {
			return "", err
		}
		return "mv " + quoted(path) + " " + quoted(p.Path), nil
	})
}

// lookAtNames reports files that hold a task but do not have a task's name. It counts the other
// foreign files.
func (s *Store) lookAtNames(tell func(state.Finding)) (foreign int) {
	for _, dir := range taskDirs {
		files, _ := readNames(s.path(dir)) // the readers of tasks report why it cannot be read
		slices.Sort(files)
		for _, file := range files {
			if _, ok := parseTask(dir, file); ok || s.ours(dir, file) {
				continue
			}
			if f, ok := s.misnamed(dir, file); ok {
				tell(f)
			} else {
				foreign++
			}
		}
	}
	return foreign
}

// ours reports whether a file in a folder of tasks belongs there although it is not a task's.
func (s *Store) ours(dir, file string) bool {
	place := dir + "/" + file
	return slices.Contains(folders, place) || place == lockFile || place == counterFile || strings.HasPrefix(file, tempPrefix)
}

// misnamed reports a file that holds a task but does not have a task's name. No list has it, and it
// never runs.
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
	hint := "look when it is to run (ouro-timer log " + task.ID + "), and name it DUE." + task.ID + suffix + ", DUE in UTC as in docs/state.md"
	if due, ok := s.meantDue(file, task); ok {
		if n, err := nameOf(task.ID, due); err == nil {
			hint = "mv " + quoted(path) + " " + quoted(s.path(dir+"/"+n.queue()))
		}
	}
	return state.Finding{Level: state.Wrong, Reason: isForeign, Subject: path, Hint: hint,
		Text: fmt.Sprintf("%s holds task %s and has no task's name, so it never runs", path, task.ID)}, true
}

// someInstant matches an instant in UTC as people write it into names, with or without a fraction
// of a second.
var someInstant = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(\d{4})-?(\d\d)-?(\d\d)T(\d\d)[:.-]?(\d\d)[:.-]?(\d\d(?:\.\d{1,9})?)Z`)
})

// meantDue guesses when a task is due whose file does not have a task's name. It takes what the
// name says anyway, or the wall clock in the file, or the task's last change in the ledger if no
// occurrence has come after it.
func (s *Store) meantDue(file string, task state.Task) (time.Time, bool) {
	if m := someInstant().FindStringSubmatch(file); m != nil {
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

// lookAtQuarantine names what was set aside.
func (s *Store) lookAtQuarantine(_ context.Context, tell func(state.Finding)) string {
	paths, err := s.allQuarantined()
	if err != nil {
		tell(s.fault(s.path(corruptDir), err))
	}
	for _, path := range paths {
		tell(s.quarantineFinding(path))
	}
	return "no file was set aside"
}

// quarantineFinding reports a file in timers/corrupt. Its name is a task's, perhaps with a number
// after it.
func (s *Store) quarantineFinding(path string) state.Finding {
	f := state.Finding{Level: state.Wrong, Reason: isQuarantined, Subject: path, Text: path + " was set aside", Hint: "look at it, then: rm " + quoted(path)}
	n, ok := quarantineName(filepath.Base(path))
	if !ok {
		return f
	}
	if s.olderCopy(path) {
		f.Level, f.Reason, f.Hint = state.Odd, isCopy, "rm "+quoted(path)
		f.Text += " and is an older copy of task " + n.id + ", which is not affected"
		return f
	}
	back := "mv " + quoted(path) + " " + quoted(s.path(s.folderBefore(n.id)+"/"+n.queue()))
	if _, err := s.readTask(corruptDir+"/"+filepath.Base(path), n.id); err != nil {
		f.Text += ": " + reasonOf(err)
		f.Hint = "mend it and put it back: " + back + "; or rm " + quoted(path)
		return f
	}
	f.Text += " and can be read: it was mended, or is a copy of task " + n.id + " that went away"
	f.Hint = back + "; or, when it is no longer wanted: rm " + quoted(path)
	return f
}

// lookAtKeys looks for keys of tasks that are gone.
func (s *Store) lookAtKeys(ctx context.Context, tell func(state.Finding)) string {
	keys, err := readNames(s.path(keysDir)) // before the tasks: a key comes with its task or later
	var there map[string]bool
	if err == nil && len(keys) > 0 {
		there, err = s.existing(ctx)
	}
	if err != nil {
		tell(s.fault(s.path(keysDir), err))
		keys = nil
	}
	slices.Sort(keys)
	for _, file := range keys {
		if strings.HasPrefix(file, ".") {
			continue
		}
		place := keysDir + "/" + file
		path := s.path(place)
		id, _, err := s.readKey(place)
		switch {
		case missing(err):
		case err != nil:
			tell(state.Finding{Level: state.Odd, Reason: isUnreadable, Subject: path, Text: path + " cannot be read, so that adding a task with that key is slow",
				Hint: "rm " + quoted(path), Mend: s.removing(place, func(t *tx) error { return t.keyIsFree(place, "") })})
		case !there[id]:
			tell(state.Finding{Level: state.Odd, Reason: isLeft, Subject: path, Text: fmt.Sprintf("%s is the key of task %s, which is no more", path, id),
				Hint: "nothing: it is in nobody's way", Mend: s.removing(place, func(t *tx) error { return t.keyIsFree(place, id) })})
		}
	}
	return "every key is some task's"
}

// keyIsFree returns why a key's file must stay: it names another task than before, or it names none
// and some task has, or may have, the key.
func (t *tx) keyIsFree(place, was string) error {
	id, _, err := t.readKey(place)
	if err == nil {
		_, err := t.doc(state.Change{ID: id})
		aside, unsure := t.quarantinedOf(id)
		if id != was || !errors.Is(err, state.ErrNotFound) || unsure != nil || len(aside) > 0 {
			return fmt.Errorf("%s was taken in the meantime", t.path(place))
		}
		return nil
	}
	all, err := t.list(everything, "")
	if err != nil {
		return err
	}
	for f := range all.found() {
		if task, err := t.readTask(f.place(), f.id); err == nil && task.Key != "" && keyPlace(task.Key) == place {
			return fmt.Errorf("%s belongs to a task; it is written anew when that changes", t.path(place))
		}
	}
	return nil
}

// PathOf is where the file of a task is.
func (s *Store) PathOf(e state.Entry) string {
	d := state.Doc{Task: e.Task, Due: e.Due, Phase: state.Pending}
	if e.Held {
		d.Phase, d.Resume = state.Paused, e.Resume
	}
	f, err := foundOf(d)
	if err != nil {
		return s.path(cmp.Or(f.dir, queueDir))
	}
	return s.path(f.place())
}
