package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

func init() {
	prune := func(most int64) func(*Store, state.Record) error {
		return func(s *Store, _ state.Record) error {
			_, err := s.Prune(ctx, state.Keep{Ledger: most}, day0)
			return err
		}
	}
	adding := func(parts int64) func(t *testing.T, s *Store) state.Record {
		return func(t *testing.T, s *Store) state.Record {
			s.partMost = parts
			for range 4 {
				must[state.Entry](t)(s.Add(ctx, once("n"), day0))
			}
			return state.Record{}
		}
	}
	scenarios = append(scenarios,
		scenario{name: "cut the ledger", prepare: adding(1 << 20), op: prune(1000), twice: []error{nil}},
		scenario{name: "drop a part of the ledger for its size", prepare: adding(1), op: prune(1700), twice: []error{nil}},
	)
}

// ledgerSize is how many bytes the ledger has.
func ledgerSize(t *testing.T, s *Store) (bytes int64) {
	t.Helper()
	var end os.FileInfo // it comes last, and may have a second name
	for _, f := range must[[]string](t)(filepath.Glob(s.path(runsDir + "/ledger*.jsonl"))) {
		info := must[os.FileInfo](t)(os.Stat(f))
		if end != nil && os.SameFile(end, info) {
			continue
		}
		bytes += info.Size()
		end = info
	}
	return bytes
}

// descriptions are those of the lines of the ledger, oldest first, without those of type task but the creations.
func descriptions(t *testing.T, s *Store) (list []string) {
	t.Helper()
	_, problems, err := s.Log(ctx, "", func(l state.Line) bool {
		list = append(list, l.Description)
		return true
	})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	slices.Reverse(list)
	return list
}

// TestLedgerBudget: however the ledger is divided into files, the newest lines within the budget stay, without a gap, and what was dropped is
// counted.
func TestLedgerBudget(t *testing.T) {
	clocktest.Alone(t)
	for _, c := range []struct {
		name       string
		part, most int64
		lines      int
		least      int64 // that is left
		size       int   // of a description
	}{
		{"it is within it", 8 << 20, 1 << 20, 50, 1, 20},
		{"one large file", 8 << 20, 10_000, 200, 8_000, 20},
		{"a budget that is less than a line", 8 << 20, 100, 20, 0, 20},
		{"many small files", 1_000, 10_000, 200, 8_000, 20},
		{"a few files", 20_000, 50_000, 600, 40_000, 20},
		{"files larger than the budget", 30_000, 10_000, 600, 8_000, 20},
		{"long lines", 300_000, 400_000, 120, 300_000, 190},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := lazy(t, t.TempDir(), nil)
			s.partMost = c.part
			var want []string
			for i := range c.lines {
				text := fmt.Sprintf("%06d%s", i, strings.Repeat("x", c.size-6))
				at := day0.Add(time.Duration(i) * time.Second)
				task := once(text)
				task.Created = at
				must[state.Entry](t)(s.Add(ctx, task, day2))
				want = append(want, text)
			}
			if c.size > 100 { // a long row of lines that were written together
				var drafts []state.Draft
				for i := range 256 {
					text := fmt.Sprintf("%06d%s", c.lines+i, strings.Repeat("x", c.size-6))
					task := once(text)
					task.Run, task.Text, task.Created = state.Job{}, strings.Repeat("y", 10_000), day1
					drafts = append(drafts, state.Draft{Task: task, Due: day2})
					want = append(want, text)
				}
				s.AddAll(ctx, drafts)
			}
			before := ledgerSize(t, s)
			p := must[state.Pruned](t)(s.Prune(ctx, state.Keep{Ledger: c.most}, day2))
			size := ledgerSize(t, s)
			if most := max(c.most, 200); size > most && before > c.most { // the head line of the file that grows
				t.Errorf("%d bytes are left of %d, of at most %d", size, before, c.most)
			}
			if size < c.least {
				t.Errorf("%d bytes are left of %d, of a budget of %d", size, before, c.most)
			}
			got := descriptions(t, s)
			if n := len(want) - len(got); n < 0 || !slices.Equal(got, want[n:]) {
				t.Fatalf("%d lines are left of %d: from %.10s to %.10s", len(got), len(want), got[0], got[len(got)-1])
			}
			g, some, err := s.Gone(ctx)
			if err != nil || some != (before > c.most) || g.Lines != len(want)-len(got) || p.Lines != g.Lines {
				t.Errorf("dropped %+v, %v, %v; pruned %+v; %d of %d lines are left", g, some, err, p, len(got), len(want))
			}
			if n := g.Lines; n > 0 && n <= c.lines && !g.Until.Equal(day0.Add(time.Duration(n-1)*time.Second)) {
				t.Errorf("%d lines were dropped, until %v", n, g.Until)
			}
			// Within the budget nothing is done; what comes later is dropped in its turn, and IDs do not come back.
			if p := must[state.Pruned](t)(s.Prune(ctx, state.Keep{Ledger: c.most}, day2)); p != (state.Pruned{}) && c.most > 1000 {
				t.Errorf("pruned once more: %+v", p)
			}
			for i := range 100 {
				text := fmt.Sprint("more ", i)
				e := must[state.Entry](t)(s.Add(ctx, once(text), day2))
				if n, _ := state.IDNumber(e.Task.ID); int(n) != len(want) {
					t.Fatalf("the task after %d is number %d", len(want), n)
				}
				want = append(want, text)
			}
			must[state.Pruned](t)(s.Prune(ctx, state.Keep{Ledger: c.most}, day2))
			got = descriptions(t, s)
			if g, _, _ = s.Gone(ctx); g.Lines+len(got) != len(want) || !slices.Equal(got, want[g.Lines:]) {
				t.Errorf("%d lines are left of %d, %d are gone", len(got), len(want), g.Lines)
			}
		})
	}
}

// TestDroppedIsCountedOnce: wherever a process dies while it drops lines, each is counted once when the next one has done it.
func TestDroppedIsCountedOnce(t *testing.T) {
	clocktest.Alone(t)
	for name, part := range map[string]int64{"one file": 1 << 20, "many": 600} {
		dir := t.TempDir()
		s := lazy(t, filepath.Join(dir, "state"), nil)
		s.partMost = part
		for i := range 30 {
			must[state.Entry](t)(s.Add(ctx, once(fmt.Sprint(i)), day0))
		}
		all := pack(t, s.Dir())
		for n := 2; ; n++ {
			at := filepath.Join(dir, "copy")
			all.unpack(t, at)
			d := &faultDisk{disk: lazyDisk{}, at: n / 2, crash: true, half: n%2 == 1, err: errCrash}
			c := lazy(t, at, d)
			c.partMost = part
			_, err := c.Prune(ctx, state.Keep{Ledger: 3000}, day0)
			if !d.hit {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			c = lazy(t, at, nil)
			c.partMost = part
			must[state.Pruned](t)(c.Prune(ctx, state.Keep{Ledger: 3000}, day0))
			g, _, err := c.Gone(ctx)
			left := descriptions(t, c)
			if err != nil || g.Lines+len(left) != 30 || g.Lines < 10 || left[0] != fmt.Sprint(g.Lines) {
				t.Errorf("%s, step %d: %v, %+v are gone and %d left, from %s on", name, n/2, err, g, len(left), left[0])
			}
			if size := ledgerSize(t, c); size > 3000 {
				t.Errorf("%s, step %d: %d bytes are left", name, n/2, size)
			}
		}
	}
}

// TestPlacesOfACutLedger: a place in the ledger stays where it is when lines before it are dropped; one that is gone is said to be.
func TestPlacesOfACutLedger(t *testing.T) {
	s := lazy(t, t.TempDir(), nil)
	var places []state.Place // after each line
	for i := range 40 {
		must[state.Entry](t)(s.Add(ctx, once(fmt.Sprint(i)), day0))
		end, _, err := s.Log(ctx, "", func(state.Line) bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, end)
	}
	must[state.Pruned](t)(s.Prune(ctx, state.Keep{Ledger: 6000}, day0))
	g, _, err := s.Gone(ctx)
	if err != nil || g.Lines < 5 || g.Lines > 35 {
		t.Fatalf("%v, %+v", err, g)
	}
	must[state.Entry](t)(s.Add(ctx, once("40"), day0))
	for i, p := range places {
		first := ""
		end, problems, err := s.After(ctx, "", p, func(l state.Line) bool { first = l.Description; return false })
		want, lost := fmt.Sprint(i+1), i+1 < g.Lines
		if lost {
			want = fmt.Sprint(g.Lines)
		}
		if err != nil || first != want || lost != slices.ContainsFunc(problems, func(p state.Problem) bool { return errors.Is(p.Err, ledger.ErrGap) }) {
			t.Errorf("after %v comes %q, want %q; %v %v", p, first, want, problems, err)
		}
		if i+1 < len(places) && !lost && end != places[i+1] {
			t.Errorf("after %v is %v, want %v", p, end, places[i+1])
		}
	}
	n := 0
	if _, problems, err := s.After(ctx, "", state.Place{}, func(l state.Line) bool {
		if l.Description != fmt.Sprint(g.Lines+n) {
			t.Errorf("line %d is %s", n, l.Description)
		}
		n++
		return true
	}); err != nil || len(problems) > 0 || n != 41-g.Lines {
		t.Errorf("%d lines, %v %v", n, problems, err)
	}
}

// TestDroppedIsAddedUp: what was dropped and what is left add up to what there was, wherever the ledger was cut, and the place where it
// begins since is known.
func TestDroppedIsAddedUp(t *testing.T) {
	for name, part := range map[string]int64{"one file": 1 << 20, "many": 900} {
		t.Run(name, func(t *testing.T) {
			s := lazy(t, filepath.Join(t.TempDir(), "state"), nil)
			s.partMost = part
			e := must[state.Entry](t)(s.Add(ctx, daily("n"), day0))
			due := day0
			for i := range 40 {
				r := must[state.Record](t)(s.Claim(ctx, e.Task.ID, due, due.AddDate(0, 0, 1), state.Ident{}, due))
				end := due.Add(time.Duration(i) * time.Second)
				if err := s.End(ctx, r, state.Line{At: end, Outcome: []state.Outcome{state.OK, state.Failed, state.TimedOut}[i%3], Started: &due, Ended: &end, ExitCode: new(i), Late: float64(i)}); err != nil {
					t.Fatal(err)
				}
				due = due.AddDate(0, 0, 1)
			}
			sums := func() (all state.Sums) {
				g, _, err := s.Gone(ctx)
				if err != nil {
					t.Fatal(err)
				}
				all = g.Sums
				if _, problems, err := s.After(ctx, "", g.To, func(l state.Line) bool { all.Count(l); return true }); err != nil || len(problems) > 0 {
					t.Fatal(err, problems)
				}
				return all
			}
			want := sums()
			if want.Occurrences != (state.Outcomes{OK: 14, Failed: 13, TimedOut: 13}) || want.Late.Sum != 780 || want.Took.Sum != 780 {
				t.Fatalf("%+v", want)
			}
			for size := ledgerSize(t, s); size > 2000; size -= 1500 {
				p := must[state.Pruned](t)(s.Prune(ctx, state.Keep{Ledger: size}, due))
				if got := sums(); got != want {
					t.Fatalf("with at most %d bytes, %+v: %+v, not %+v", size, p, got, want)
				}
			}
			if g, _, _ := s.Gone(ctx); g.Lines < 20 || g.Sums.Occurrences.OK == 0 {
				t.Errorf("only %+v were dropped", g)
			}
		})
	}
}
