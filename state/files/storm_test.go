package files

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/storetest"
)

// TestMain lets the test binary be a process of a storm, or one whose system calls are counted.
func TestMain(m *testing.M) {
	if role := os.Getenv("OURO_CALLS"); role != "" {
		os.Exit(beTraced(role, os.Args[1]))
	}
	if role := os.Getenv("OURO_STORM"); role != "" {
		os.Exit(storm(role, os.Args[1], os.Args[2]))
	}
	// The tests open millions of files. The log of them that go test asks for, to know when an answer may be given again, is a gigabyte,
	// which it then takes longer to read than the tests take; without it they are run each time.
	flag.Parse()
	flag.Set("test.testlogfile", "")
	os.Exit(m.Run())
}

// storm is a process that uses the state in dir until it is killed. Each line it appends to the file at told is something it
// was promised, or is about to do: "added ID" after Add returned, "fired ID DUE" before its process would be started.
func storm(role, dir, told string) int {
	f, err := os.OpenFile(told, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return 1
	}
	p := &stormer{tell: func(format string, args ...any) { fmt.Fprintf(f, format+"\n", args...) }}
	if p.s, err = Open(dir, Options{LockWait: patience, PartMost: 4 << 10}); err == nil && role == "runner" {
		err = p.lead()
	}
	fmt.Println("open")
	for err == nil {
		switch role {
		case "writer":
			err = p.write()
		case "taker":
			err = p.take()
		default:
			err = p.run()
		}
	}
	p.tell("error %v", err)
	return 1
}

type stormer struct {
	s    *Store
	led  state.Lease
	tell func(format string, args ...any)
	ids  []string // tasks this one knows
}

// fine lets the answers pass that whoever is not alone must expect.
func fine(err error) error {
	for _, known := range []error{state.ErrTaken, state.ErrEnded, state.ErrConflict, state.ErrKept} {
		if errors.Is(err, known) {
			return nil
		}
	}
	return err
}

// stormKeys is how many keys the writers share.
const stormKeys = 12

// draft is a task of a storm: due on day 0, and some on day 1, too; a third of them have a key.
func (p *stormer) draft() state.Draft {
	d := state.Draft{Task: daily("n"), Due: day0.Add(time.Duration(rand.IntN(600)) * time.Second)}
	if rand.IntN(3) == 0 {
		d.Task.Key = fmt.Sprint("key ", rand.IntN(stormKeys))
	}
	return d
}

// took notes what became of a draft.
func (p *stormer) took(d state.Draft, e state.Entry, err error) error {
	switch {
	case err == nil:
		p.tell("added %s", e.Task.ID)
	case errors.Is(err, state.ErrKept):
		if e.Task.Key != d.Task.Key {
			p.tell("error: kept for key %q is %s with %q", d.Task.Key, e.Task.ID, e.Task.Key)
		}
		p.tell("kept %s", e.Task.ID)
	case errors.Is(err, state.ErrInvalid) && d.Task.Text == "\xff":
		return nil
	default:
		return err
	}
	if p.ids = append(p.ids, e.Task.ID); len(p.ids) > 50 {
		p.ids = p.ids[1:]
	}
	return nil
}

// write makes one change.
func (p *stormer) write() (err error) {
	time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond) // so that the runner has its share of the lock
	if n := rand.IntN(10); n < 3 || len(p.ids) == 0 {
		d := p.draft()
		e, err := p.s.Add(ctx, d.Task, d.Due)
		return p.took(d, e, err)
	} else if n < 4 {
		drafts := make([]state.Draft, 1+rand.IntN(12))
		for i := range drafts {
			drafts[i] = p.draft()
		}
		if rand.IntN(2) == 0 {
			drafts[rand.IntN(len(drafts))].Task.Text = "\xff"
		}
		for i, a := range p.s.AddAll(ctx, drafts) {
			if err := p.took(drafts[i], a.Entry, a.Err); err != nil {
				return err
			}
		}
		return nil
	}
	id := p.ids[rand.IntN(len(p.ids))]
	l, err := p.s.Find(ctx, id)
	if err != nil || len(l) != 1 {
		return fmt.Errorf("find %s: %d, %w", id, len(l), err)
	}
	switch e := l[0]; rand.IntN(6) {
	case 0, 1:
		e.Task.Description += "+"
		due := time.Time{}
		if rand.IntN(2) == 0 {
			due = e.Due.Add(time.Duration(rand.IntN(1200)-600) * time.Second)
		}
		if e, err = p.s.Update(ctx, e.Task, due, day0, nil); err == nil {
			p.tell("updated %s %d", id, e.Task.Revision)
		}
	case 2:
		resume := time.Time{}
		if rand.IntN(2) == 0 {
			resume = day0
		}
		_, err = p.s.Pause(ctx, id, resume, day0)
	case 3:
		_, err = p.s.Resume(ctx, id, day0)
	case 4:
		if _, err = p.s.Remove(ctx, id, day0); err == nil {
			p.tell("removed %s", id)
		}
	default:
		_, err = p.s.Restore(ctx, id, day1.Add(time.Duration(rand.IntN(600))*time.Second), day0)
	}
	return fine(err)
}

// lead makes the process the runner, and settles what the one before it left: what was not begun is given back.
func (p *stormer) lead() error {
	for {
		led, err := p.s.Lead(ctx, state.Leader{})
		if err == nil {
			p.led = led
			break
		}
		if !errors.Is(err, state.ErrLed) {
			return err
		}
	}
	open, problems, err := p.s.Open(ctx)
	if err != nil || len(problems) > 0 {
		return fmt.Errorf("%w %v", err, problems)
	}
	for _, r := range slices.Backward(open) {
		if r.Starting.IsZero() {
			if err := p.giveBack(r); err == nil {
				continue
			} else if fine(err) != nil {
				return err
			}
		}
		if err := p.s.End(ctx, r, state.Line{At: r.Due, Outcome: state.Interrupted}); err != nil {
			return err
		}
	}
	return nil
}

func (p *stormer) giveBack(r state.Record) error {
	p.tell("releasing %s %s", r.Task.ID, r.Due.Format(stamp))
	return p.s.Release(ctx, r)
}

// run does what is due, at most two instants of each task, as a runner would: many at a time or one, one of some is missed, and some
// are given back.
func (p *stormer) run() error {
	list, problems, err := dueBy(p.s, day2, 8)
	if err != nil || len(problems) > 0 {
		return fmt.Errorf("%w %v", err, problems)
	}
	var wants []storetest.Want
	for i, e := range list {
		w := storetest.Want{ID: e.Task.ID, Due: e.Due, Next: e.Due.AddDate(0, 0, 1)}
		if e.Due.After(day1) || i%2 == 0 {
			w.Next = time.Time{}
		}
		switch {
		case e.Held:
			_, err = p.s.Resume(ctx, e.Task.ID, day0)
		case rand.IntN(6) == 0:
			err = p.s.Skip(ctx, e.Task.ID, w.Due, w.Next, state.Line{At: e.Due, Outcome: state.Missed})
		default:
			wants = append(wants, w)
		}
		if fine(err) != nil {
			return err
		}
	}
	var ends []state.Ending
	for _, g := range storetest.ClaimAll(ctx, p.s, wants[:rand.IntN(len(wants)+1)], state.Ident{PID: os.Getpid()}, day0) {
		if g.Err != nil {
			if fine(g.Err) != nil {
				return g.Err
			}
			continue
		}
		r := g.Record
		p.tell("granted %s %s", r.Task.ID, r.Due.Format(stamp))
		if rand.IntN(5) == 0 {
			if err := p.giveBack(r); err == nil {
				continue
			} else if fine(err) != nil {
				return err
			}
		}
		r.Starting = day0
		if err := p.s.Started(ctx, r); err != nil {
			return err
		}
		p.tell("fired %s %s", r.Task.ID, r.Due.Format(stamp))
		ends = append(ends, state.Ending{Record: r, Line: stormLine(r)})
	}
	if len(ends) > 0 && rand.IntN(2) == 0 {
		if err := p.s.End(ctx, ends[0].Record, ends[0].Line); err != nil {
			return err
		}
		ends = ends[1:]
	}
	return errors.Join(p.s.EndAll(ctx, ends)...)
}

// TestKillStorm kills eight writers, two runners, of which one leads, and two takers of mail at random moments, again and again: what was promised
// holds. OURO_STORM_FOR says for how long, as in 5m; it is a few seconds without. On a busy machine, where none of them lives long enough to come
// to what it does, it blows again, and lets them live twice as long.
func TestKillStorm(t *testing.T) {
	length := 6 * time.Second
	if testing.Short() {
		length = 2 * time.Second
	}
	if text := os.Getenv("OURO_STORM_FOR"); text != "" {
		length = must[time.Duration](t)(time.ParseDuration(text))
	}
	dir, told := t.TempDir(), filepath.Join(t.TempDir(), "told")
	for kills, most := 0, time.Second; ; most *= 2 {
		kills += blow(t, dir, told, length, most)
		c := aftermath{t: t, s: open(t, dir)}
		p := &stormer{s: c.s, tell: func(string, ...any) {}}
		if err := p.lead(); err != nil { // what the last runner left
			t.Fatal(err)
		}
		c.hear(told)
		c.read()
		c.keys()
		c.mail()
		t.Logf("%d taken, %d of them again, %d acknowledged, %d items left; %d told, %d notices left",
			c.takes, c.retaken, len(c.acked), c.items, c.delivered, c.notices)
		t.Logf("lives of %v at most, %d kills; %d adds acknowledged, %d found, %d lost; %d kept; %d updates; %d claims, %d given back; %d fired, %d fired twice; %d outcomes",
			most, kills, len(c.added), len(c.tasks), c.lost, c.kept, c.updates, c.grants, c.released, len(c.fired), c.twice, len(c.outcomes))
		parts := must[[]int](t)(c.s.ledger.Parts())
		t.Logf("%d parts of the ledger", len(parts))
		p.led.Release()
		blown := c.takes > 0 && len(c.acked) > 0 && c.delivered > 0 && len(c.added) > 0 && c.grants > 0 && c.updates > 0 && c.kept > 0 && len(parts) > 0
		if blown || t.Failed() {
			return
		}
		if most > 15*time.Second {
			t.Fatal("the storm did not blow")
		}
	}
}

// blow is one storm of a length or of three lives, and returns how many processes it killed: each after a life of most, at most.
func blow(t *testing.T, dir, told string, length, most time.Duration) int {
	var wg sync.WaitGroup
	var kills atomic.Int32
	end := time.Now().Add(max(length, 3*most))
	for i := range 12 {
		role, least := "writer", 50*time.Millisecond
		if i >= 10 {
			role = "taker"
		} else if i >= 8 {
			role, least = "runner", 300*time.Millisecond // it has to become one first
		}
		wg.Go(func() {
			for time.Now().Before(end) {
				cmd := exec.Command(os.Args[0], dir, told)
				cmd.Env = append(os.Environ(), "OURO_STORM="+role)
				out := must[io.ReadCloser](t)(cmd.StdoutPipe())
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				if rand.IntN(8) > 0 && role != "runner" { // one of two runners never has its turn while the other lives
					_, _ = out.Read(make([]byte, 1))
				}
				time.Sleep(least + time.Duration(rand.Int64N(int64(most))))
				cmd.Process.Kill()
				if err := cmd.Wait(); cmd.ProcessState.Exited() {
					t.Errorf("a %s ended by itself: %v", role, err)
				} else {
					kills.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return int(kills.Load())
}

// aftermath is what was promised in a storm, and what is there.
type aftermath struct {
	t *testing.T
	s *Store

	added, removed          map[string]bool
	granted, back, fired    map[string]int // by ID and instant
	revisions               map[string]int64
	kept, updates, released int
	grants, twice, lost     int

	taken         map[string][]span // of an item
	acking, acked map[string]bool
	takes, items  int
	retaken       int
	delivered     int
	notices       int

	tasks    map[string]state.Entry
	lines    []state.Line // oldest first
	outcomes map[string]int
}

// hear reads what the processes told.
func (c *aftermath) hear(told string) {
	data := must[[]byte](c.t)(os.ReadFile(told))
	c.added, c.removed, c.revisions = map[string]bool{}, map[string]bool{}, map[string]int64{}
	c.granted, c.back, c.fired = map[string]int{}, map[string]int{}, map[string]int{}
	c.taken, c.acking, c.acked = map[string][]span{}, map[string]bool{}, map[string]bool{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		kind, what, _ := strings.Cut(lines.Text(), " ")
		id, more, _ := strings.Cut(what, " ")
		switch kind {
		case "added":
			if c.added[id] {
				c.t.Errorf("ID %s was given twice", id)
			}
			c.added[id] = true
		case "kept":
			c.kept++
		case "removed":
			c.removed[id] = true
		case "updated":
			c.updates++
			var revision int64
			fmt.Sscan(more, &revision)
			if c.revisions[what]++; c.revisions[what] > 1 {
				c.t.Errorf("revision %d of %s was made twice", revision, id)
			}
			c.revisions[id] = max(c.revisions[id], revision)
		case "granted":
			c.grants++
			c.granted[what]++
		case "releasing":
			c.released++
			c.back[what]++
		case "took":
			var had span
			fmt.Sscan(more, &had.from, &had.until)
			c.takes++
			if len(c.taken[id]) > 0 {
				c.retaken++
			}
			c.taken[id] = append(c.taken[id], had)
		case "acking":
			c.acking[id] = true
		case "acked":
			if c.acked[id] {
				c.t.Errorf("item %s was acknowledged twice", id)
			}
			c.acked[id] = true
		case "fired":
			if c.fired[what]++; c.fired[what] == 2 {
				c.twice++
				c.t.Errorf("%s was fired twice", what)
			}
		default:
			c.t.Errorf("a process said: %s", lines.Text())
		}
	}
	for what, n := range c.granted {
		if n > 1+c.back[what] {
			c.t.Errorf("%s was granted %d times and given back %d times", what, n, c.back[what])
		}
	}
}

// read holds what is there against it.
func (c *aftermath) read() {
	t := c.t
	list, problems, err := state.All(ctx, c.s)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	c.tasks, c.outcomes = map[string]state.Entry{}, map[string]int{}
	for _, e := range list {
		c.tasks[e.Task.ID] = e
		if len(e.Open) > 0 {
			t.Errorf("%s has claims that nobody settled: %+v", e.Task.ID, e.Open)
		}
	}
	created, removed, numbers := map[string]int{}, map[string]bool{}, map[string]int{}
	_, problems, err = c.s.Log(ctx, "", func(l state.Line) bool {
		c.lines = append(c.lines, l)
		switch {
		case l.Type == state.LineOccurrence:
			c.outcomes[l.TaskID+" "+l.Due.UTC().Format(stamp)]++
			numbers[l.TaskID]++
		case l.Event == state.EventCreated:
			created[l.TaskID]++
		case l.Event == state.EventRemoved:
			removed[l.TaskID] = true
		}
		if l.Reason == "lost" {
			t.Errorf("%s is told to be lost", l.TaskID)
		}
		return true
	})
	slices.Reverse(c.lines)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	for id := range c.added {
		if _, ok := c.tasks[id]; !ok {
			c.lost++
			t.Errorf("%s was added and is lost", id)
		}
	}
	for id := range c.removed {
		if !removed[id] {
			t.Errorf("%s was removed, and the ledger does not say so", id)
		}
	}
	for what, n := range c.outcomes {
		if n != 1 {
			t.Errorf("%s has %d outcomes", what, n)
		}
	}
	for what, n := range c.granted {
		if c.outcomes[what] == 0 && n > c.back[what] {
			t.Errorf("%s was granted and has no outcome", what)
		}
	}
	for what := range c.fired {
		if c.outcomes[what] != 1 {
			t.Errorf("%s was fired and has %d outcomes", what, c.outcomes[what])
		}
	}
	for id, e := range c.tasks {
		if created[id] != 1 {
			t.Errorf("%s has %d lines of creation", id, created[id])
		}
		if e.Task.Revision < c.revisions[id] || e.Task.Revision != 1+int64(strings.Count(e.Task.Description, "+")) {
			t.Errorf("%s has revision %d (%s), and somebody was promised %d", id, e.Task.Revision, e.Task.Description, c.revisions[id])
		}
		if e.Tally.Number != numbers[id] {
			t.Errorf("%s has number %d after %d occurrences", id, e.Tally.Number, numbers[id])
		}
	}
}

// keys goes through the ledger: whenever a task came with a key, the one that had it was removed or had ended for good.
func (c *aftermath) keys() {
	last := map[string]int{} // each task's last outcome, as a position in the ledger
	for i, l := range c.lines {
		if l.Type == state.LineOccurrence {
			last[l.TaskID] = i
		}
	}
	holder := map[string]string{}
	for i, l := range c.lines {
		key := c.tasks[l.TaskID].Task.Key
		if key == "" {
			continue
		}
		switch l.Event {
		case state.EventCreated, state.EventRestored:
			if h := holder[key]; h != "" && (c.tasks[h].Phase != state.Ended || last[h] > i) {
				c.t.Errorf("%s of %s with the key of %s, which is %s", l.Event, l.TaskID, h, c.tasks[h].Phase)
			}
			holder[key] = l.TaskID
		case state.EventRemoved:
			if holder[key] == l.TaskID {
				holder[key] = ""
			}
		}
	}
	living := map[string]string{}
	for id, e := range c.tasks {
		if e.Task.Key == "" || e.Phase == state.Ended || e.Phase == state.Removed {
			continue
		}
		if other := living[e.Task.Key]; other != "" {
			c.t.Errorf("%s and %s live with one key", id, other)
		}
		living[e.Task.Key] = id
	}
}
