package files

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestFirstPassesOverWhatCannotBeRead plants files that cannot be read among the first.
func TestFirstPassesOverWhatCannotBeRead(t *testing.T) {
	s := open(t, t.TempDir())
	var all []string
	for i := range 40 {
		e, err := s.Add(ctx, once("n"), day0.Add(time.Duration(i)*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		if i%3 != 1 {
			all = append(all, e.Task.ID)
		} else if err := os.WriteFile(s.path(queueDir+"/"+name{due: e.Due.Format(stamp), id: e.Task.ID}.queue()), []byte("what?"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []int{1, 2, 3, 10, 27, 40} {
		list, behind, problems, err := first(s, n, state.Pending)
		var got []string
		for _, e := range list {
			got = append(got, e.Task.ID)
		}
		told := 0
		for i, good := 0, 0; i < 40 && good < n; i++ {
			if i%3 == 1 {
				told++
			} else {
				good++
			}
		}
		// Those that are broken are counted as long as nobody has read them, and nobody is told of them.
		if err != nil || !slices.Equal(got, all[:min(n, len(all))]) || len(problems) != told || len(list)+behind != 40-told {
			t.Errorf("first %d: %v and %d, %d problems, %v; want %v", n, got, behind, len(problems), err, all[:min(n, len(all))])
		}
	}
}

// TestEachFindsWhatMoves moves tasks after they were listed and before most of them are read. Each comes once.
func TestEachFindsWhatMoves(t *testing.T) {
	s := open(t, t.TempDir())
	const n = 500
	drafts := make([]state.Draft, n)
	for i := range drafts {
		drafts[i] = state.Draft{Task: once("n"), Due: day0.Add(time.Duration(i) * time.Minute)}
	}
	added := s.AddAll(ctx, drafts)
	seen := map[string]bool{}
	_, err := state.Each(ctx, s, func(e state.Entry) bool {
		if len(seen) == 0 {
			for _, a := range added {
				if err := s.Move(ctx, a.Entry.Task.ID, a.Entry.Due, day2, day0); err != nil {
					t.Fatal(err)
				}
			}
		}
		if seen[e.Task.ID] {
			t.Errorf("%s comes twice", e.Task.ID)
		}
		seen[e.Task.ID] = true
		return true
	})
	if err != nil || len(seen) != n {
		t.Errorf("%d of %d tasks, %v", len(seen), n, err)
	}
}

// TestRunningTasksAreFoundAmongThoseThatEnded: that folder is looked into for nothing else when it is what lives that is listed.
func TestRunningTasksAreFoundAmongThoseThatEnded(t *testing.T) {
	s := open(t, t.TempDir())
	e, err := s.Add(ctx, once("n"), day0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim(ctx, e.Task.ID, day0, time.Time{}, state.Ident{}, day0); err != nil {
		t.Fatal(err)
	}
	place := s.path(endedDir + "/" + name{due: day0.Format(stamp), id: e.Task.ID}.queue())
	if _, err := os.Stat(place); err != nil {
		t.Fatal(err)
	}
	list, _, _, err := first(s, 9, state.Pending, state.Running)
	if err != nil || len(list) != 1 || list[0].Phase != state.Running {
		t.Errorf("%v, %v", list, err)
	}
}
