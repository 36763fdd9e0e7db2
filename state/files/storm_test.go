package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestMain lets the test binary be a process of a storm.
func TestMain(m *testing.M) {
	if role := os.Getenv("OURO_STORM"); role != "" {
		os.Exit(storm(role, os.Args[1], os.Args[2]))
	}
	os.Exit(m.Run())
}

// storm is a process that uses the state in dir until it is killed. Each line it appends to the file at told is something it
// was promised: "added ID DUE" after Add returned, "granted ID DUE" after Claim did.
func storm(role, dir, told string) int {
	f, err := os.OpenFile(told, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return 1
	}
	s, err := Open(dir, Options{LockWait: time.Minute})
	if err != nil {
		fmt.Fprintln(f, "error", err)
		return 1
	}
	for n := 0; ; n++ {
		if role == "writer" {
			err = stormWrite(s, f, n)
		} else {
			err = stormRun(s, f)
		}
		if err != nil {
			fmt.Fprintln(f, "error", err)
			return 1
		}
	}
}

func stormWrite(s *Store, f *os.File, n int) error {
	due := day0.Add(time.Duration(n%5) * time.Minute)
	e, err := s.Add(ctx, daily("n"), due)
	if err != nil {
		return err
	}
	fmt.Fprintln(f, "added", e.Task.ID, due.Format(stamp))
	if n%4 != 0 {
		return nil
	}
	if _, err := s.Remove(ctx, e.Task.ID, day0); err != nil {
		if errors.Is(err, state.ErrEnded) { // the runners had both its days by now
			return nil
		}
		return err
	}
	_, err = s.Restore(ctx, e.Task.ID, day2, day0)
	return err
}

// stormRun does what is due until day 2, two instants a task, as a runner would: one of each task is missed now and then.
func stormRun(s *Store, f *os.File) error {
	list, problems, err := s.DueBy(ctx, day2, 8)
	if err != nil || len(problems) > 0 {
		return fmt.Errorf("%w %v", err, problems)
	}
	for i, e := range list {
		next := e.Due.AddDate(0, 0, 1)
		if e.Due.After(day1) {
			next = time.Time{}
		}
		if i%5 == 4 {
			err := s.Skip(ctx, e.Task.ID, e.Due, next, state.Line{At: e.Due, Outcome: state.Missed})
			if err != nil && !errors.Is(err, state.ErrTaken) {
				return err
			}
			continue
		}
		r, err := s.Claim(ctx, e.Task.ID, e.Due, next, state.Ident{PID: os.Getpid()}, e.Due)
		if errors.Is(err, state.ErrTaken) {
			continue
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(f, "granted", e.Task.ID, e.Due.Format(stamp))
		if err := s.Started(ctx, r); err != nil {
			return err
		}
		if err := s.End(ctx, r, state.Line{At: e.Due, Outcome: state.OK}); err != nil {
			return err
		}
	}
	return nil
}

// TestKillStorm kills writers and runners at random moments, for seconds, again and again: what was promised holds.
func TestKillStorm(t *testing.T) {
	length := 4 * time.Second
	if testing.Short() {
		length = time.Second
	}
	dir, told := t.TempDir(), filepath.Join(t.TempDir(), "told")
	start := func(role string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], dir, told)
		cmd.Env = append(os.Environ(), "OURO_STORM="+role)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	var wg sync.WaitGroup
	end := time.Now().Add(length)
	var kills [4]int
	for i := range 4 {
		role := []string{"writer", "runner"}[i%2]
		wg.Go(func() {
			for time.Now().Before(end) {
				cmd := start(role)
				time.Sleep(30*time.Millisecond + time.Duration(rand.Int64N(int64(250*time.Millisecond))))
				cmd.Process.Kill()
				cmd.Wait()
				kills[i]++
			}
		})
	}
	wg.Wait()

	data, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	added := map[string]bool{}
	granted := map[string]bool{}
	twice := 0
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		switch kind, what, _ := strings.Cut(lines.Text(), " "); kind {
		case "added":
			id, _, _ := strings.Cut(what, " ")
			if added[id] {
				t.Errorf("ID %s was given twice", id)
			}
			added[id] = true
		case "granted":
			if granted[what] {
				twice++
				t.Errorf("%s was granted twice", what)
			}
			granted[what] = true
		default:
			t.Errorf("a process said: %s", lines.Text())
		}
	}
	s := open(t, dir)
	settle(t, s)
	list, problems, err := s.List(ctx)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	found := map[string]state.Entry{}
	for _, e := range list {
		found[e.Task.ID] = e
	}
	lost := 0
	for id := range added {
		if _, ok := found[id]; !ok {
			lost++
			t.Errorf("%s was added and is lost", id)
		}
	}
	// Each instant that is past has one outcome or one open claim; each grant is one of these.
	outcomes := map[string]int{}
	created := map[string]int{}
	problems, err = s.Log(ctx, "", func(l state.Line) bool {
		switch {
		case l.Type == state.LineOccurrence:
			outcomes[l.TaskID+" "+l.Due.UTC().Format(stamp)]++
		case l.Event == state.EventCreated:
			created[l.TaskID]++
		case l.Reason == "lost":
			t.Errorf("%s is told to be lost", l.TaskID)
		}
		return true
	})
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	openClaims, problems, err := s.Open(ctx)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	for _, r := range openClaims {
		outcomes[r.Task.ID+" "+r.Due.Format(stamp)]++
	}
	for what, n := range outcomes {
		if n != 1 {
			t.Errorf("%s has %d outcomes", what, n)
		}
	}
	for what := range granted {
		if outcomes[what] != 1 {
			t.Errorf("%s was granted and has %d outcomes", what, outcomes[what])
		}
	}
	for id, e := range found {
		if created[id] != 1 {
			t.Errorf("%s has %d lines of creation", id, created[id])
		}
		past := e.Tally.Number
		for _, r := range e.Open {
			past = max(past, r.Number)
		}
		n := 0
		for what := range outcomes {
			if strings.HasPrefix(what, id+" ") {
				n++
			}
		}
		if past != n {
			t.Errorf("%s has number %d after %d occurrences", id, past, n)
		}
	}
	t.Logf("%d kills; %d adds promised, %d found, %d lost; %d grants, %d twice; %d outcomes, %d open",
		kills[0]+kills[1]+kills[2]+kills[3], len(added), len(found), lost, len(granted), twice, len(outcomes)-len(openClaims), len(openClaims))
}
