package files

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// TestLogDamaged: whatever is damaged in the middle of the ledger, the lines before and after it are told, of all tasks and of one,
// and the damage is reported once to whoever may miss a line by it.
func TestLogDamaged(t *testing.T) {
	dir := t.TempDir()
	s := lazy(t, dir, nil)
	id := must[state.Entry](t)(s.Add(ctx, daily("mine"), day0)).Task.ID
	other := must[state.Entry](t)(s.Add(ctx, daily("other"), day0)).Task.ID
	for i := range 3 {
		for _, id := range []string{id, other} {
			r := must[state.Record](t)(s.Fire(ctx, id, state.Ident{PID: 1}, day0))
			if err := s.End(ctx, r, state.Line{At: day0, Outcome: state.OK, Text: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	whole := must[[]byte](t)(os.ReadFile(s.path(ledgerFile)))
	lines := bytes.SplitAfter(whole, []byte("\n"))
	const at = 4 // the second run of the task
	if !bytes.Contains(lines[at], []byte(`"number":2`)) || !bytes.Contains(lines[at], []byte(id)) {
		t.Fatalf("%s", lines[at])
	}
	replaced := func(from, to string) string { return strings.Replace(string(lines[at]), from, to, 1) }
	for name, c := range map[string]struct {
		text string
		mine int  // lines of the task that are left
		told bool // the damage, when the task was asked for
	}{
		"nothing":          {string(lines[at]), 4, false},
		"all of it":        {"garbage\n", 3, true},
		"zeros":            {strings.Repeat("\x00", len(lines[at])-1) + "\n", 3, true},
		"an empty line":    {"\n", 3, true},
		"its first part":   {"\x00\x00\x00" + string(lines[at][3:]), 3, true},
		"its end":          {string(lines[at][:len(lines[at])/2]) + "\n", 3, true},
		"its ID":           {replaced(`"task_id":"`+id, `"task_id":"`+id[:3]+"\x00"), 3, true},
		"the key":          {replaced("task_id", "tbsk_id"), 3, true},
		"another field":    {replaced(`"number"`, `"num`), 3, true},
		"several lines":    {"gar\n\xff\xfe\n{{\n", 3, true},
		"its line end":     {string(lines[at][:len(lines[at])-1]), 3, true},
		"written otherway": {unsealed(replaced(`{"type":"manual","at"`, `{"task_id":"`+id+`","type":"manual","at"`)), 4, false},
		"changed by hand":  {replaced(`{"type":"manual","at"`, `{"task_id":"`+id+`","type":"manual","at"`), 4, true},
	} {
		t.Run(name, func(t *testing.T) {
			all := bytes.Join([][]byte{bytes.Join(lines[:at], nil), []byte(c.text), bytes.Join(lines[at+1:], nil)}, nil)
			if err := os.WriteFile(s.path(ledgerFile), all, 0o600); err != nil {
				t.Fatal(err)
			}
			s := lazy(t, dir, nil)
			for _, task := range []string{"", id, other} {
				got, want := 0, map[string]int{"": c.mine + 4, id: c.mine, other: 4}[task]
				if name == "its line end" {
					want -= map[string]int{"": 1, other: 1}[task] // the next one is on the same line
				}
				_, problems, err := s.Log(ctx, task, func(state.Line) bool { got++; return true })
				if err != nil || got != want {
					t.Errorf("of %q: %d lines, want %d; %v", task, got, want, err)
				}
				if task != other && (len(problems) > 0) != c.told {
					t.Errorf("of %q: %v", task, problems)
				}
				for _, p := range problems {
					if !strings.Contains(p.Error(), "the line that ends at byte") || errors.Is(p, state.ErrTorn) {
						t.Errorf("of %q: %v", task, p)
					}
				}
			}
		})
	}
}

// unsealed is a line as an earlier version has written it, without a checksum.
func unsealed(line string) string {
	head, _, _ := strings.Cut(line, sumKey)
	return head + "}}\n"
}

// TestOccurrence: an occurrence is looked up among very many lines without decoding the others, and whatever way it is told of: a line of
// its own, one of many instants, a run by hand, lines written in another way, deliveries.
func TestOccurrence(t *testing.T) {
	clocktest.Alone(t)
	dir := t.TempDir()
	s := lazy(t, dir, nil)
	id := must[state.Entry](t)(s.Add(ctx, daily("mine"), day0)).Task.ID
	other := must[state.Entry](t)(s.Add(ctx, daily("other"), day0)).Task.ID
	const many = 50_000
	file := must[*os.File](t)(os.OpenFile(s.path(ledgerFile), os.O_APPEND|os.O_WRONLY, 0))
	w := bufio.NewWriter(file)
	for n := 1; n <= many; n++ {
		for _, task := range []string{id, other} {
			due := day0.Add(time.Duration(n) * time.Second)
			l := state.Line{Type: state.LineOccurrence, At: due, TaskID: task, Number: n, Due: &due, Count: 1, Outcome: state.OK}
			switch {
			case n >= 2000 && n < 2010: // one line stands for ten
				if n > 2000 {
					continue
				}
				last := due.Add(9 * time.Second)
				l.DueLast, l.Count, l.Outcome = &last, 10, state.Skipped
			case n == 3000:
				l.Type = state.LineManual
			}
			line := must[[]byte](t)(json.Marshal(ledger.Entry{Line: l}))
			if n == 4000 && task == id {
				line = fmt.Appendf(nil, `{"task_id":%q,"number":4000,"type":"occurrence","count":1,"outcome":"ok","at":%q,"due":%q}`, id, due.Format(time.RFC3339), due.Format(time.RFC3339))
			}
			fmt.Fprintf(w, "%s\n", line)
			if n == 5000 {
				fmt.Fprintf(w, "%s\n", must[[]byte](t)(json.Marshal(ledger.Entry{Line: state.Line{Type: state.LineDelivery, At: due, TaskID: task, Number: n, Channel: "me", Delivered: true}})))
			}
		}
	}
	if err := errors.Join(w.Flush(), file.Close()); err != nil {
		t.Fatal(err)
	}
	s = lazy(t, dir, nil)
	for _, c := range []struct {
		number, first int
		types         string
	}{
		{1, 1, "occurrence"}, {777, 777, "occurrence"}, {2000, 2000, "occurrence"}, {2009, 2000, "occurrence"}, {2010, 2010, "occurrence"}, {3000, 3000, "manual"},
		{4000, 4000, "occurrence"}, {5000, 5000, "delivery occurrence"}, {many, many, "occurrence"}, {many + 1, 0, ""},
	} {
		var types []string
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, known, problems, err := s.Occurrence(ctx, id, c.number, func(l state.Line) bool {
			if l.Number != c.first || l.TaskID != id {
				t.Errorf("number %d: %+v", c.number, l)
			}
			types = append(types, l.Type)
			return true
		})
		runtime.ReadMemStats(&after)
		if got := strings.Join(types, " "); got != c.types || !known || len(problems) > 0 || err != nil {
			t.Errorf("number %d: %q, want %q; known %v, %v, %v", c.number, got, c.types, known, problems, err)
		}
		if n := after.Mallocs - before.Mallocs; n > many/5 { // decoding one takes more than ten
			t.Errorf("number %d: %d allocations for %d lines of which it needs two at the most", c.number, n, many)
		}
	}
	if _, known, _, err := s.Occurrence(ctx, state.ID(99), 1, func(state.Line) bool { return true }); known || err != nil {
		t.Errorf("a task that is not there: %v, %v", known, err)
	}
}
