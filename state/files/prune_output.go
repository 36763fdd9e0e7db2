package files

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// kept is the output of one run.
type kept struct {
	id     string
	number int
	size   int64
	at     int64 // when it was last written to, in Unix nanoseconds
}

// pruneOutput removes the output of runs beyond the newest of each task, and then the oldest until
// the rest is within the budget. The output of open runs counts, but is not touched. There may be
// very many runs, so they are only remembered if something has to go.
func (s *Store) pruneOutput(ctx context.Context, keep state.Keep, p *state.Pruned) error {
	ids, err := readNames(s.path(outputDir))
	if err != nil {
		return err
	}
	slices.Sort(ids)
	var old []kept
	var total int64
	err = s.eachOutput(ctx, ids, func(runs []kept) {
		if n := len(runs) - keep.Runs; keep.Runs > 0 && n > 0 {
			old, runs = append(old, runs[:n]...), runs[n:]
		}
		for _, r := range runs {
			total += r.size
		}
	})
	if err == nil && keep.Output > 0 && total > keep.Output {
		var all []kept
		err = s.eachOutput(ctx, ids, func(runs []kept) {
			if keep.Runs > 0 {
				runs = runs[max(len(runs)-keep.Runs, 0):]
			}
			for _, r := range runs {
				if r.size > 0 {
					all = append(all, r)
				}
			}
		})
		slices.SortFunc(all, func(a, b kept) int {
			return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.id, b.id), a.number-b.number)
		})
		for i := 0; i < len(all) && total > keep.Output; i++ {
			total -= all[i].size
			old = append(old, all[i])
		}
	}
	if err != nil {
		return err
	}
	for some := range slices.Chunk(old, pruneMost/2) { // most have two files
		if err := s.transact(ctx, func(t *tx) error { return t.dropOutput(some, p) }); err != nil {
			return err
		}
	}
	return nil
}

// eachOutput calls yield with the runs of each task that have output, in order.
func (s *Store) eachOutput(ctx context.Context, ids []string, yield func([]kept)) error {
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !state.WholeID(id) {
			continue
		}
		runs, err := s.outputs(id)
		if err != nil {
			return err
		}
		yield(runs)
	}
	return nil
}

// outputNames returns the files in a task's output folder. A folder that is a link has none,
// because its target is not ours.
func (s *Store) outputNames(id string) ([]string, error) {
	folder := s.path(outputDir + "/" + id)
	if err := plainfile.CheckFolder(folder); missing(err) || errors.Is(err, plainfile.ErrFolder) {
		return nil, nil
	}
	return readNames(folder)
}

// outputs returns the runs of a task that have output, in order.
func (s *Store) outputs(id string) (runs []kept, err error) {
	files, err := s.outputNames(id)
	if err != nil {
		return nil, err
	}
	at := make(map[int]int, len(files))
	for _, file := range files {
		n, ok := runOf(file)
		if !ok {
			continue
		}
		i, seen := at[n]
		if !seen {
			i, at[n], runs = len(runs), len(runs), append(runs, kept{id: id, number: n})
		}
		if info, err := os.Lstat(s.path(path.Join(outputDir, id, file))); err == nil {
			runs[i].size += info.Size()
			runs[i].at = max(runs[i].at, info.ModTime().UnixNano())
		}
	}
	slices.SortFunc(runs, func(a, b kept) int { return a.number - b.number })
	return runs, nil
}

// dropOutput is one transaction of pruneOutput. A run has ended if its files were found before the
// transaction and it is not open in it.
func (t *tx) dropOutput(list []kept, p *state.Pruned) error {
	all, err := t.list(openOnly, "")
	if err != nil {
		return err
	}
	open := map[string][]int{}
	for id, names := range all.open {
		for _, n := range names {
			r, _, err := t.readRecord(n)
			if err != nil && !garbled(err) {
				return fail("reading an open claim", err)
			}
			open[id] = append(open[id], r.Number) // 0 for a damaged record, which may be of any run
		}
	}
	for _, r := range list {
		if slices.Contains(open[r.id], r.number) || slices.Contains(open[r.id], 0) {
			continue
		}
		if err := t.removeRun(r.id, r.number, p); err != nil {
			return err
		}
	}
	return nil
}

// removeRun removes the output of a run, if there is any.
func (t *tx) removeRun(id string, number int, p *state.Pruned) error {
	files, err := t.outputNames(id)
	if err != nil {
		return err
	}
	slices.Sort(files)
	some := false
	for _, file := range files {
		if n, ok := runOf(file); ok && n == number {
			if err := t.removeOutput(id, file, p); err != nil {
				return err
			}
			some = true
		}
	}
	if some {
		p.Runs++
	}
	return nil
}

// runOf is the number of the run that wrote a file in a task's output folder.
func runOf(file string) (int, bool) {
	text, _, ok := strings.Cut(file, ".")
	n, err := strconv.Atoi(text)
	return n, ok && err == nil && n > 0 && strconv.Itoa(n) == text
}
