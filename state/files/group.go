package files

import (
	"context"
	"os"
	"path"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// groupMost is how many claims or ends share one turn, and its waits for the disk.
const groupMost = 64

// ClaimAll prepares many claims under one lock, makes them durable together (see journal), and moves their tasks' files. What
// a crash leaves is for each of them what it would be for a claim alone.
func (s *Store) ClaimAll(ctx context.Context, wants []state.Want, by state.Ident, now time.Time) []state.Granted {
	all := make([]state.Granted, len(wants))
	for from := 0; from < len(wants); from += groupMost {
		to := min(from+groupMost, len(wants))
		t, err := s.begin(ctx)
		if err != nil {
			for i := from; i < len(wants); i++ {
				all[i].Err = err
			}
			break
		}
		t.claimSome(wants[from:to], all[from:to], by, now)
		t.done()
	}
	return all
}

// claimSome is one turn of ClaimAll.
func (t *turn) claimSome(wants []state.Want, answers []state.Granted, by state.Ident, now time.Time) {
	if len(wants) == 1 && len(t.journal.records) == 0 {
		answers[0].Record, answers[0].Err = t.claim(wants[0], by, now)
		return
	}
	if names, err := t.list(openOnly, ""); err == nil { // else each finds out for itself
		t.open = names.open
	}
	var ready []claiming
	var index []int
	seen := map[string]bool{}
	var later []int // of a task that is claimed in this group already
	for i, w := range wants {
		if seen[w.ID] {
			later = append(later, i)
			continue
		}
		c, err := t.prepareClaim(w, by, now)
		if err != nil {
			answers[i].Err = err
			continue
		}
		seen[w.ID] = true
		ready, index = append(ready, c), append(index, i)
	}
	t.open = nil
	if t.grantAll(ready) == nil {
		for k, c := range ready {
			t.noteKey(c.record.Task, c.to)
			answers[index[k]].Record = c.record
		}
	} else { // one by one, each gets an answer of its own
		for _, i := range index {
			answers[i].Record, answers[i].Err = t.claim(wants[i], by, now)
		}
	}
	for _, i := range later {
		answers[i].Record, answers[i].Err = t.claim(wants[i], by, now)
	}
}

// grantAll is grant of many. On error nothing was granted, and the tasks are still due if the disk lets them be.
func (t *turn) grantAll(list []claiming) (err error) {
	if len(list) == 0 {
		return nil
	}
	var files []newFile
	for _, c := range list {
		files = append(files, newFile{t.path(openDir + "/" + c.name.record()), c.data})
	}
	moved := 0
	if t.enterClaims(list) {
		t.unsynced.Add(1)
		err = t.disk.drafts(files)
	} else if err = t.disk.createAll(files); err == nil {
		err = t.disk.syncDir(t.path(openDir))
	}
	var dirs []string // where files have gone, before where they came from
	for err == nil && moved < len(list) {
		c := list[moved]
		if err = t.disk.rename(t.path(c.from), t.path(c.to)); err == nil {
			moved++
			if d := path.Dir(c.to); d != queueDir && !slices.Contains(dirs, d) {
				dirs = append(dirs, d)
			}
		}
	}
	for _, d := range append(dirs, queueDir) {
		if err == nil {
			err = t.disk.syncDir(t.path(d))
		}
	}
	if err == nil {
		return nil
	}
	// Back into the queue, so that they can be claimed again. A file that cannot go back leaves its record, and its occurrence
	// is not lost. The next turn looks which of them the journal has to give back.
	t.journal = journal{}
	for _, c := range list[:moved] {
		if _, gone := os.Lstat(t.path(c.from)); missing(gone) {
			t.disk.rename(t.path(c.to), t.path(c.from))
		}
	}
	for _, d := range append([]string{queueDir}, dirs...) {
		if t.disk.syncDir(t.path(d)) != nil {
			return err // should the power go now, the records are what is left of the claims
		}
	}
	for _, c := range list {
		if _, gone := os.Lstat(t.path(c.from)); gone == nil {
			t.disk.remove(t.path(openDir + "/" + c.name.record()))
		}
	}
	return err
}

// EndAll appends the lines of many ends at once, brings the tallies up to date side by side, and removes the records.
func (s *Store) EndAll(ctx context.Context, ends []state.Ending) []error {
	all := make([]error, len(ends))
	for from := 0; from < len(ends); {
		to := from + group(ends[from:])
		t, err := s.begin(ctx)
		if err != nil {
			for i := from; i < len(ends); i++ {
				all[i] = err
			}
			break
		}
		t.endSome(ends[from:to], all[from:to])
		t.done()
		from = to
	}
	return all
}

// group is how many of the ends go together: a task's tally knows one line that it has counted, so no task comes twice.
func group(ends []state.Ending) int {
	seen := map[string]bool{}
	for i, e := range ends {
		if i == groupMost || seen[e.Record.Task.ID] {
			return i
		}
		seen[e.Record.Task.ID] = true
	}
	return len(ends)
}

// endSome is one turn of EndAll.
func (t *turn) endSome(ends []state.Ending, answers []error) {
	var entries []entry
	var index []int
	for i, e := range ends {
		end, err := t.prepareEnd(e)
		if err != nil {
			answers[i] = err
			continue
		}
		entries, index = append(entries, end), append(index, i)
	}
	if len(entries) < 2 && (len(entries) == 0 || !t.journaled(entries[0].Store.From)) {
		for _, i := range index {
			answers[i] = t.endClaim(ends[i])
		}
		return
	}
	end, err := t.appendLines(t.end, entries...)
	if err == nil {
		t.end = end
		// The lines are durable: the claims have ended. What does not succeed from here on is done by the next turn.
		if t.applyAll() == nil {
			t.remember()
		}
		return
	}
	for _, i := range index {
		answers[i] = t.endClaim(ends[i])
	}
}

// applyAll is apply of lines that were written together: creations, or ends of claims of different tasks.
func (t *turn) applyAll() error {
	lines := append(slices.Clone(t.end.with), written{t.end.last, t.end.sum})
	if err := t.countAll(lines); err != nil {
		return err
	}
	if err := t.post(t.end.entries()); err != nil {
		return err
	}
	var dirs []string
	touched := func(place string) {
		if d := path.Dir(place); !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	for _, l := range lines {
		from, to := l.Store.From, l.Store.To
		if from == "" {
			continue
		}
		if _, err := os.Lstat(t.path(from)); missing(err) {
			continue
		}
		if to == "" {
			if path.Dir(from) == openDir {
				if _, err := os.Lstat(t.path(haltOf(from))); err == nil {
					t.disk.remove(t.path(haltOf(from)))
				}
			}
			if err := t.disk.remove(t.path(from)); err != nil && !missing(err) {
				return fail("closing a claim", err)
			}
		} else {
			if err := t.disk.rename(t.path(from), t.path(to)); err != nil {
				return fail("moving a task", err)
			}
			touched(to)
		}
		touched(from)
	}
	for _, d := range dirs {
		if err := t.disk.syncDir(t.path(d)); err != nil {
			return fail("finishing changes", err)
		}
	}
	return nil
}

// countAll brings the tallies of different tasks up to date.
func (t *turn) countAll(lines []written) error {
	var files, drafts []newFile // at their places
	for _, l := range lines {
		if !counts(l.Line) {
			continue
		}
		old, err := t.readTally(l.TaskID)
		if err != nil {
			return err
		}
		if old.Line == l.sum {
			continue
		}
		first := old.Line == ""
		old.add(l.Line, l.sum)
		data, err := encode(old)
		if err != nil {
			return err
		}
		file := newFile{t.path(tallyPlace(l.TaskID)), data}
		if first && t.journaled(l.Store.From) { // should it be lost, it is made again from this line
			drafts = append(drafts, file)
		} else {
			files = append(files, file)
		}
	}
	if len(drafts) > 0 {
		t.unsynced.Add(1)
		if t.disk.drafts(drafts) != nil { // a damaged one is there, or the disk is full
			files = append(files, drafts...)
		}
	}
	return fail("writing tallies", t.replaceTallies(files))
}

// replaceTallies puts files in the places of old ones, durably.
func (t *turn) replaceTallies(files []newFile) error {
	if len(files) == 0 {
		return nil
	}
	temps := make([]newFile, len(files))
	for i, f := range files {
		temps[i] = newFile{fresh(t.path(tallyDir)), f.data}
	}
	err := t.disk.createAll(temps)
	for i := 0; i < len(files) && err == nil; i++ {
		err = t.disk.rename(temps[i].path, files[i].path)
	}
	if err != nil {
		for _, f := range temps {
			t.disk.remove(f.path)
		}
		return err
	}
	return t.disk.syncDir(t.path(tallyDir))
}
