//go:build unix

package cmd

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// TestFaults lets real runners and real commands die at random for some seconds, OURO_TEST_FAULTS=3m for longer, and then holds the
// ledger against what the commands themselves have written: every one-shot has exactly one outcome, no occurrence was begun twice,
// and every instant of the recurring tasks stands in exactly one line. OURO_TEST_SEED repeats the order of the faults, as far as
// the machine lets it.
func TestFaults(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("kills many processes")
	}
	lasts, seed := 5*time.Second, uint64(time.Now().UnixNano())
	if text := os.Getenv("OURO_TEST_FAULTS"); text != "" {
		var err error
		if lasts, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := strconv.ParseUint(os.Getenv("OURO_TEST_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("OURO_TEST_SEED=%d", seed)
	f := newFaults(t)
	f.recur()
	ctx, stop := context.WithTimeout(t.Context(), lasts)
	defer stop()
	var wg sync.WaitGroup
	for i, work := range []func(context.Context, *rand.Rand){f.add, f.add, f.break1, f.break1, f.race} {
		wg.Go(func() { work(ctx, rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	wg.Wait()
	f.settle()
	f.check()
	t.Logf("%s: %v", lasts, f.counts())
}

// faults is a state folder, and what was done to it.
type faults struct {
	t        testing.TB
	self     string
	home     string
	out      string // where commands write that they were begun
	env      []string
	st       state.Store
	store    *fleet.Store // it is that, when it is a fleet's
	mu       sync.Mutex
	oneShots []string
	recurs   []string
	done     map[string]int // faults by kind
}

func newFaults(t *testing.T) *faults {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := &faults{t: t, self: self, home: filepath.Join(t.TempDir(), "home"), out: t.TempDir(), done: map[string]int{}}
	if f.st, err = files.Open(f.home, files.Options{LockWait: 5 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	tidyUp(t, f.home, f.out)
	return f
}

func (f *faults) count(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done[what]++
}

// command is a call of the program.
func (f *faults) command(args ...string) *exec.Cmd {
	c := exec.Command(f.self)
	c.Args = append([]string{"ouro-timer"}, args...)
	c.Env = append(append(os.Environ(), "OURO_HOME="+f.home, "TZ=UTC", "OURO_AUTOSTART=1", "GORACE=atexit_sleep_ms=0"), f.env...)
	return c
}

// call calls the program, which must succeed, and returns what it prints.
func (f *faults) call(args ...string) string {
	var errs strings.Builder
	c := f.command(args...)
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		f.t.Errorf("ouro-timer %s: %v: %s%s", strings.Join(args, " "), err, out, errs.String())
	}
	return strings.TrimSpace(string(out))
}

// script is a command that writes down that it was begun, takes a while, and writes down that it has ended. Each attempt has a file
// of its own; a second line "begun" in one is a run that came twice.
func (f *faults) script(takes string) string {
	return fmt.Sprintf(`o=%s/$(echo $OURO_OCCURRENCE | tr / .).$OURO_ATTEMPT; echo begun >> $o; sleep %s; echo ended >> $o`, f.out, takes)
}

// recur adds recurring tasks of every policy.
func (f *faults) recur(where ...string) {
	for _, flags := range [][]string{
		{"--overlap", "skip"}, {"--overlap", "queue"}, {"--overlap", "replace"}, {"--overlap", "allow"},
		{"--catchup", "all"}, {"--catchup", "skip"}, {"--retries", "2", "--backoff", "100ms", "--timeout", "300ms"},
	} {
		words := slices.Concat([]string{"at", "every 1s", "-q"}, flags, where)
		f.recurs = append(f.recurs, f.call(append(words, "-c", f.script("0."+strconv.Itoa(1+3*len(f.recurs))))...))
	}
}

// add adds one-shots; each call notices that the runner has died, and starts another.
func (f *faults) add(ctx context.Context, r *rand.Rand) {
	for ctx.Err() == nil {
		at := []string{"now", "in 1 second", "in 2 seconds"}[r.IntN(3)]
		id := f.call("at", at, "-q", "-c", f.script(fmt.Sprintf("0.%02d", r.IntN(40))))
		f.mu.Lock()
		f.oneShots = append(f.oneShots, id)
		f.mu.Unlock()
		nap(ctx, time.Duration(r.IntN(80))*time.Millisecond)
	}
}

func nap(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// break1 breaks one thing after the other.
func (f *faults) break1(ctx context.Context, r *rand.Rand) {
	for ctx.Err() == nil {
		nap(ctx, time.Duration(20+r.IntN(300))*time.Millisecond)
		switch n := r.IntN(12); {
		case n < 4:
			if l, led, err := f.st.Led(ctx); err == nil && led && runner.Signal(l.Ident, syscall.SIGKILL) == nil {
				f.count("runners killed")
			}
		case n < 7:
			if open, _, err := f.st.Open(ctx); err == nil && len(open) > 0 {
				o := open[r.IntN(len(open))]
				if o.Child.PID > 0 && runner.Alive(o.Child) && syscall.Kill(-o.Child.PID, syscall.SIGKILL) == nil {
					f.count("commands killed")
				}
			}
		case n < 8:
			if l, led, err := f.st.Led(ctx); err == nil && led && runner.Signal(l.Ident, syscall.SIGSTOP) == nil {
				nap(context.Background(), time.Duration(r.IntN(600))*time.Millisecond)
				_ = runner.Continue(l.Ident) // killed meanwhile, perhaps
				f.count("runners stopped for a while")
			}
		case n < 9:
			if l, led, err := f.st.Led(ctx); err == nil && led && l.Yields && runner.AskToYield(l.Ident) == nil {
				f.count("runners that stepped down")
			}
		case n < 10:
			if id := f.any(r); id != "" {
				c := f.command("stop", id, "--max", "2s", "-q")
				_ = c.Run() // perhaps nothing of it runs
				f.count("stops")
			}
		default:
			if id := f.any(r); id != "" {
				c := f.command("fire", id, "-q")
				if c.Start() == nil {
					if r.IntN(2) == 0 {
						nap(ctx, time.Duration(r.IntN(200))*time.Millisecond)
						_ = c.Process.Kill() // it may have ended
						f.count("fires killed")
					}
					_ = c.Wait() // as above
					f.count("fires")
				}
			}
		}
	}
}

// any is one of the tasks.
func (f *faults) any(r *rand.Rand) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := append(append([]string{}, f.recurs...), f.oneShots[max(0, len(f.oneShots)-10):]...)
	return all[r.IntN(len(all))]
}

// race starts runners at the same time, of which one at the most gets the lock.
func (f *faults) race(ctx context.Context, r *rand.Rand) {
	for ctx.Err() == nil {
		nap(ctx, time.Duration(100+r.IntN(400))*time.Millisecond)
		var wg sync.WaitGroup
		for range 2 + r.IntN(3) {
			wg.Go(func() { f.call("run", "--background") })
		}
		wg.Wait()
		f.count("races of runners")
	}
}

// remove removes a task. On a busy machine the servers of a fleet may not answer in time, so it
// tries for a minute; a task that an earlier try has removed is gone.
func (f *faults) remove(id string) {
	for tried, end := false, time.Now().Add(time.Minute); ; tried = true {
		c := f.command("rm", "-q", id)
		out, err := c.CombinedOutput()
		away := err != nil && c.ProcessState.ExitCode() == problem.ExitState
		switch {
		case err == nil, !away && tried:
			return
		case away && time.Now().Before(end):
			continue
		}
		f.t.Errorf("ouro-timer rm -q %s: %v: %s", id, err, out)
		return
	}
}

// settle lets everything come to its end.
func (f *faults) settle() {
	for _, id := range f.recurs {
		f.remove(id)
	}
	f.call("run", "--background")
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		open, _, err := f.st.Open(f.t.Context())
		_, pending, err2 := state.Next(f.t.Context(), f.st, time.Time{})
		switch {
		case err != nil || err2 != nil:
			f.t.Fatal(err, err2)
		case len(open) == 0 && !pending:
			return
		case time.Now().After(end):
			f.t.Errorf("a minute after the last fault %d claims are open, something is pending: %v; the log:\n%s", len(open), pending,
				f.call("log", "-n", "40"))
			return
		}
	}
}

// check holds the ledger against what must be true.
func (f *faults) check() {
	t := f.t
	var lines []state.Line
	if _, _, err := f.st.Log(t.Context(), "", func(l state.Line) bool { lines = append(lines, l); return true }); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(lines)
	byTask, byOccurrence := map[string][]state.Line{}, map[string]state.Line{}
	for _, l := range lines {
		if l.Type == state.LineTask {
			byTask[l.TaskID] = append(byTask[l.TaskID], l)
			continue
		}
		if l.Type == state.LineOccurrence {
			byTask[l.TaskID] = append(byTask[l.TaskID], l)
		}
		name := state.OccurrenceID(l.TaskID, l.Number)
		if other, twice := byOccurrence[name]; twice {
			t.Errorf("%s has two outcomes: %s (%s) and %s (%s)", name, other.Outcome, other.Reason, l.Outcome, l.Reason)
		}
		byOccurrence[name] = l
		f.done["outcomes "+string(l.Outcome)]++
		if l.Type == state.LineManual {
			f.done["manual lines"]++
		}
	}
	for _, id := range f.oneShots {
		n := 0
		for _, l := range byTask[id] {
			if l.Type == state.LineOccurrence {
				n++
			}
		}
		if n != 1 {
			t.Errorf("the one-shot %s has %d outcomes", id, n)
		}
	}
	f.done["one-shots"] = len(f.oneShots)
	for _, id := range f.recurs {
		f.instants(id, byTask[id])
	}
	f.begun(byOccurrence)
}

// instants makes sure that each instant of a recurring task, from its first to the last before its removal, stands in one line.
func (f *faults) instants(id string, lines []state.Line) {
	t := f.t
	var created, removed state.Line
	var list []state.Line
	for _, l := range lines {
		switch {
		case l.Event == state.EventCreated:
			created = l
		case l.Event == state.EventRemoved:
			removed = l
		case l.Type == state.LineOccurrence:
			list = append(list, l)
		}
	}
	slices.SortFunc(list, func(a, b state.Line) int { return cmp.Compare(a.Due.UnixNano(), b.Due.UnixNano()) })
	next, covered := *created.Due, 0
	for _, l := range list {
		if !l.Due.Equal(next) {
			t.Errorf("%s: the line of %s (%s %s) should be of %s: instants lack a line, or have two", id, l.Due, l.Outcome, l.Reason, next)
		}
		last := *l.Due
		if l.DueLast != nil {
			last = *l.DueLast
		}
		if n := int(last.Sub(*l.Due)/time.Second) + 1; n != l.Count {
			t.Errorf("%s: the line from %s to %s stands for %d instants and says %d", id, l.Due, last, n, l.Count)
		}
		covered += l.Count
		next = last.Add(time.Second)
	}
	if removed.Due == nil || !removed.Due.Equal(next) {
		t.Errorf("%s: it was removed when due at %v, and its lines end before %s", id, removed.Due, next)
	}
	f.done["instants of recurring tasks"] += covered
}

// begun holds what the commands have written against the ledger.
func (f *faults) begun(lines map[string]state.Line) {
	t := f.t
	entries, err := os.ReadDir(f.out)
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]int{}
	for _, e := range entries {
		parts := strings.Split(e.Name(), ".")
		name := parts[0] + "/" + parts[1]
		file, err := os.Open(filepath.Join(f.out, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		begun, ended := 0, 0
		for s := bufio.NewScanner(file); s.Scan(); {
			switch s.Text() {
			case "begun":
				begun++
			case "ended":
				ended++
			}
		}
		file.Close()
		f.done["runs"]++
		runs[name] = ended
		l, ok := lines[name]
		switch {
		case begun > 1:
			t.Errorf("%s was begun %d times", e.Name(), begun)
		case !ok:
			t.Errorf("%s was begun, and has no outcome", name)
		case l.Outcome == state.Missed || l.Outcome == state.Skipped:
			t.Errorf("%s was begun, and is %s (%s)", name, l.Outcome, l.Reason)
		}
	}
	for name, l := range lines {
		if l.Outcome == state.OK && runs[name] == 0 {
			t.Errorf("%s is ok, and has not come to its end", name)
		}
	}
}

func (f *faults) counts() string {
	text, _ := json.Marshal(f.done)
	return string(text)
}
