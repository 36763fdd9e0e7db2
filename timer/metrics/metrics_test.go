package metrics

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// a task that recurs, added to be due at noon.
func add(t *testing.T, st state.Store, text string) string {
	t.Helper()
	e, err := st.Add(t.Context(), state.Task{Text: text, Created: noon, When: state.Timing{Text: "every 1h", Kind: "interval", Zone: "UTC", Start: noon}}, noon)
	if err != nil {
		t.Fatal(err)
	}
	return e.Task.ID
}

// ended has an occurrence of the task end so.
func ended(t *testing.T, st state.Store, id string, due time.Time, line state.Line) {
	t.Helper()
	r, err := st.Claim(t.Context(), id, due, due.Add(time.Hour), state.Ident{}, due)
	if err == nil {
		err = st.End(t.Context(), r, line)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func collected(t *testing.T, st state.Store, now time.Time) map[string]string {
	t.Helper()
	list, err := Source{Store: st, Now: func() time.Time { return now }, Version: `1.0 "x"`, Go: "go1", Totals: new(Totals)}.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for line := range strings.Lines(string(Text(list))) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "} "); ok && !strings.HasPrefix(line, "#") {
			values[name+"}"] = value
		} else if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok && name != "#" {
			values[name] = value
		}
	}
	return values
}

func TestNumbers(t *testing.T) {
	st := memory.New()
	id, code := add(t, st, "a"), 3
	at := func(d time.Duration) *time.Time { return new(noon.Add(d)) }
	ended(t, st, id, noon, state.Line{Outcome: state.Failed, At: noon, Started: at(2 * time.Second), Ended: at(22 * time.Second), Late: 2, ExitCode: &code, Inbox: state.ItemFailure, Tell: []string{"desktop"}})
	ended(t, st, id, noon.Add(time.Hour), state.Line{Outcome: state.Missed, At: noon, Count: 5, DueLast: at(5 * time.Hour)})
	add(t, st, "b")
	notices, _, _, err := st.Outbox(t.Context(), state.EndOfTime, 0)
	if err != nil || len(notices) != 1 {
		t.Fatal(notices, err)
	}
	n := notices[0]
	n.Attempts, n.Due = 1, noon.Add(time.Minute)
	if err := st.Postpone(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	got := collected(t, st, noon.Add(90*time.Minute))
	for name, want := range map[string]string{
		`ouro_timer_build_info{goversion="go1",version="1.0 \"x\""}`: "1",
		`ouro_timer_tasks{state="pending"}`:                          "2",
		`ouro_timer_tasks_overdue`:                                   "1",
		`ouro_timer_overdue_max_seconds`:                             "5400",
		`ouro_timer_next_due_timestamp_seconds`:                      "1795435200",
		`ouro_timer_occurrences_total{outcome="failed"}`:             "1",
		`ouro_timer_occurrences_total{outcome="missed"}`:             "5",
		`ouro_timer_lateness_seconds_bucket{le="0.5"}`:               "0",
		`ouro_timer_lateness_seconds_bucket{le="5"}`:                 "1",
		`ouro_timer_lateness_seconds_bucket{le="+Inf"}`:              "1",
		`ouro_timer_lateness_seconds_sum`:                            "2",
		`ouro_timer_lateness_seconds_count`:                          "1",
		`ouro_timer_run_duration_seconds_bucket{le="5"}`:             "0",
		`ouro_timer_run_duration_seconds_bucket{le="30"}`:            "1",
		`ouro_timer_run_duration_seconds_sum`:                        "20",
		`ouro_timer_inbox_items`:                                     "1",
		`ouro_timer_deliveries_waiting`:                              "1",
		`ouro_timer_deliveries_retrying`:                             "1",
		`ouro_timer_runner_up`:                                       "0",
		`ouro_timer_state_problems`:                                  "0",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, not %q", name, got[name], want)
		}
	}
	n.Attempts = 2
	if notices, _, _, _ = st.Outbox(t.Context(), state.EndOfTime, 0); len(notices) != 1 {
		t.Fatal(notices)
	}
	if err := st.Told(t.Context(), notices[0], state.Line{At: noon, Attempts: 2, Delivered: true}); err != nil {
		t.Fatal(err)
	}
	got = collected(t, st, noon)
	if got[`ouro_timer_deliveries_total{result="delivered"}`] != "1" || got["ouro_timer_delivery_attempts_total"] != "2" || got["ouro_timer_deliveries_waiting"] != "0" {
		t.Errorf("told: %v", got)
	}
}

// shelf is a ledger of which the beginning is dropped from time to time, also while it is read.
type shelf struct {
	state.Ledger
	lines   []state.Line
	gone    state.Gone
	bad     int    // the number of a line that cannot be read; 0: none
	reading func() // is called after a reading has begun
}

func (s *shelf) Gone(context.Context) (state.Gone, bool, error) {
	return s.gone, s.gone.Lines > 0, nil
}

func (s *shelf) After(_ context.Context, _ string, from state.Place, yield func(state.Line) bool) (state.Place, []state.Problem, error) {
	if s.reading != nil {
		s.reading()
		s.reading = nil
	}
	first := max(int(from.Offset), s.gone.Lines)
	for _, l := range s.lines[first:] {
		yield(l)
	}
	var bad []state.Problem
	if s.bad > first {
		bad = append(bad, state.Problem{Path: "ledger", Err: errors.New("it is damaged")})
	}
	return state.Place{Offset: int64(len(s.lines))}, bad, nil
}

func (s *shelf) put(n int) {
	for range n {
		s.lines = append(s.lines, state.Line{Type: state.LineOccurrence, Outcome: state.OK})
	}
}

func (s *shelf) drop(n int) {
	for _, l := range s.lines[s.gone.Lines : s.gone.Lines+n] {
		s.gone.Sums.Count(l)
	}
	s.gone.Lines += n
	s.gone.To.Offset += int64(n)
}

// TestTally: each line is counted once, whatever is dropped of the ledger, and whenever.
func TestTally(t *testing.T) {
	var s shelf
	var of Totals
	check := func(what string, want int64) {
		t.Helper()
		for _, tally := range []*Totals{&of, new(Totals)} {
			got, _, err := tally.Read(t.Context(), &s)
			if err != nil || got.Occurrences.OK != want {
				t.Errorf("%s: %d of %d, %v", what, got.Occurrences.OK, want, err)
			}
		}
	}
	check("nothing", 0)
	s.put(10)
	check("ten", 10)
	s.drop(4)
	check("four of them dropped", 10)
	s.put(5)
	s.drop(8)
	check("more came, and all that was read is gone", 15)
	s.put(5)
	s.drop(7)
	check("some is gone that was never read", 20)
	s.put(3)
	s.reading = func() { s.drop(2) }
	check("dropped while it was read", 23)
	s.reading = func() { s.put(1); s.drop(2) }
	check("more came while it was read", 24)
}

// TestProblemsStay: a line that cannot be read is reported by each reading, until it is dropped.
func TestProblemsStay(t *testing.T) {
	var s shelf
	var of Totals
	s.put(5)
	s.bad = 2
	for i, want := range []int{1, 1, 1, 0} {
		if i == 2 {
			s.put(1)
		}
		if i == 3 {
			s.drop(6)
			s.put(1)
			s.drop(1)
		}
		if _, problems, err := of.Read(t.Context(), &s); err != nil || len(problems) != want {
			t.Errorf("reading %d: %v, %v; want %d", i, problems, err, want)
		}
	}
}

// TestProblemsGo: a line that cannot be read is not reported any more once it is dropped, also if all lines had been looked at before.
func TestProblemsGo(t *testing.T) {
	var s shelf
	var of Totals
	s.put(5)
	s.bad = 2
	for i, c := range []struct{ drop, want int }{{0, 1}, {1, 1}, {1, 0}, {0, 0}} {
		s.drop(c.drop)
		if sums, problems, err := of.Read(t.Context(), &s); err != nil || len(problems) != c.want || sums.Occurrences.OK != 5 {
			t.Errorf("reading %d: %d lines, %v, %v; want %d", i, sums.Occurrences.OK, problems, err, c.want)
		}
	}
}

// TestBounds: sums that were kept go by the bounds, which are for ever.
func TestBounds(t *testing.T) {
	if !slices.Equal(state.LateBounds[:], []float64{0.005, 0.05, 0.5, 5, 60, 600, 3600, 21600, 86400}) ||
		!slices.Equal(state.TookBounds[:], []float64{0.1, 1, 5, 30, 60, 300, 900, 3600, 21600, 86400}) {
		t.Error("the bounds have changed: what was kept goes by the old ones")
	}
}

// TestDocs: the page names every number, and dashboard, rules and page name none that there is not.
func TestDocs(t *testing.T) {
	st := memory.New()
	add(t, st, "a")
	list, err := Source{Store: st, Now: func() time.Time { return noon }, Totals: new(Totals)}.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"ouro_timer_runner_start_time_seconds", "ouro_timer_runner_trouble_timestamp_seconds"} // absent here
	for _, f := range list {
		names = append(names, f.Name)
	}
	docs := filepath.Join("..", "..", "docs")
	for _, file := range []string{"metrics.md", "metrics/alerts.yml", "metrics/dashboard.json"} {
		data, err := os.ReadFile(filepath.Join(docs, file))
		if err != nil {
			t.Fatal(err)
		}
		said := regexp.MustCompile(`\bouro_timer_[a-z_]*[a-z]`).FindAllString(string(data), -1)
		for _, name := range said {
			base := name
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				base = strings.TrimSuffix(base, suffix)
			}
			if !slices.Contains(names, name) && !slices.Contains(names, base) {
				t.Errorf("%s has %s, which there is not", file, name)
			}
		}
		for _, name := range names {
			if file == "metrics.md" && !slices.Contains(said, name) {
				t.Errorf("%s has no %s", file, name)
			}
		}
	}
}
