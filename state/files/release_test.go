package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// testdata/v2 is a state folder as the first release writes it, and testdata/v2.json what is in it. They are made anew, with
// -update, until that release is out, and never again after it: what it wrote is read by every later version. The others are of versions
// before it that were in use. That of testdata/v1 had no log of commits, but noted in each line of the ledger what was to be done again, and
// in timers/.counter how far that was done. That of testdata/v0 had a ledger of one file, a counter without a checksum and notes without a
// first start.
var update = flag.Bool("update", false, "make the state folder of the first release anew")

const (
	early    = "testdata/v0"
	before   = "testdata/v1"
	released = "testdata/v2"
)

// content is all that can be read of a state folder.
type content struct {
	Tasks  []state.Entry  `json:"tasks"`
	Open   []state.Record `json:"open"`
	Ledger []state.Line   `json:"ledger"` // newest first
	Inbox  []state.Item   `json:"inbox"`
	Outbox []state.Notice `json:"outbox"`
}

func read(t *testing.T, s *Store) (c content, problems []state.Problem) {
	t.Helper()
	var more []state.Problem
	var err [5]error
	c.Tasks, problems, err[0] = state.All(ctx, s)
	c.Open, more, err[1] = s.Open(ctx)
	problems = append(problems, more...)
	_, more, err[2] = s.Log(ctx, "", func(l state.Line) bool { c.Ledger = append(c.Ledger, l); return true })
	problems = append(problems, more...)
	c.Inbox, _, more, err[3] = s.Inbox(ctx, state.Query{})
	problems = append(problems, more...)
	c.Outbox, _, more, err[4] = s.Outbox(ctx, day2.AddDate(100, 0, 0), 0)
	if err := errors.Join(err[:]...); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(c.Tasks, func(a, b state.Entry) int { return strings.Compare(a.Task.ID, b.Task.ID) })
	return c, append(problems, more...)
}

// tree is a content as JSON, so that one with further fields can be compared with one that lacks them.
func (c content) tree(t *testing.T) (tree any) {
	t.Helper()
	if err := json.Unmarshal(must[[]byte](t)(json.Marshal(c)), &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// within reports where want is not in got: a later version may add fields, and changes none.
func within(t *testing.T, where string, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		got, _ := got.(map[string]any)
		for key, v := range want {
			within(t, where+"."+key, got[key], v)
		}
	case []any:
		got, _ := got.([]any)
		if len(got) != len(want) {
			t.Errorf("%s: %d, want %d", where, len(got), len(want))
			return
		}
		for i, v := range want {
			within(t, where, got[i], v)
		}
	default:
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v", where, got, want)
		}
	}
}

// copyOf is a copy of a release's state folder.
func copyOf(t *testing.T, release string) *Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	f := pack(t, filepath.FromSlash(release))
	f.unpack(t, dir)
	return open(t, dir)
}

// TestFirstRelease: what the first release and those before it wrote is read whole, and right, and gone on with.
func TestFirstRelease(t *testing.T) {
	if *update {
		makeRelease(t)
	}
	for _, release := range []string{early, before, released} {
		t.Run(filepath.Base(release), func(t *testing.T) { readsRelease(t, release) })
	}
}

func readsRelease(t *testing.T, release string) {
	var want any
	if err := json.Unmarshal(must[[]byte](t)(os.ReadFile(release+".json")), &want); err != nil {
		t.Fatal(err)
	}
	s := copyOf(t, release)
	before := pack(t, s.Dir())
	if parts := must[[]int](t)(s.ledger.Parts()); (len(parts) > 2) != (release != early) {
		t.Errorf("its ledger has the parts %v", parts)
	}
	got, problems := read(t, s)
	if len(problems) > 0 {
		t.Errorf("%v", problems)
	}
	within(t, "", got.tree(t), want)
	if keys := keysFound(t, s); len(keys) != 1 {
		t.Errorf("unknown keys are %v", keys)
	}
	if after := pack(t, s.Dir()); !reflect.DeepEqual(after, before) {
		t.Error("reading it has changed it")
	}

	byText := map[string]state.Entry{}
	for _, e := range got.Tasks {
		byText[e.Task.Description] = e
	}
	for text, c := range map[string]struct {
		phase        state.Phase
		due          time.Time
		held         bool
		resume       time.Time
		fired, open  int
		key, outcome string
	}{
		"every field":    {phase: state.Pending, due: day2, fired: 1, key: "news", outcome: "ok"},
		"a message":      {phase: state.Pending, due: day1},
		"a script":       {phase: state.Pending, due: day2.Add(time.Hour)},
		"edited":         {phase: state.Running, due: day2, fired: 1, open: 1, outcome: "timeout"},
		"ended":          {phase: state.Ended, due: day0, fired: 1, outcome: "failed"},
		"finished":       {phase: state.Ended, due: day1, fired: 1, outcome: "ok"},
		"removed":        {phase: state.Removed, due: day1, key: "gone"},
		"removed before": {phase: state.Removed, due: day1},
		"paused":         {phase: state.Paused, due: day1, held: true},
		"paused until":   {phase: state.Paused, due: day1, held: true, resume: day2, outcome: "skipped"},
	} {
		e, ok := byText[text]
		if !ok || e.Phase != c.phase || !e.Due.Equal(c.due) || e.Held != c.held || !e.Resume.Equal(c.resume) || e.Tally.Fired != c.fired ||
			len(e.Open) != c.open || e.Task.Key != c.key || e.Tally.Last != c.outcome {
			t.Errorf("%s: %+v", text, e)
		}
	}
	news := byText["every field"]
	if out, _ := outputPaths(s, news.Task.ID, 1); string(must[[]byte](t)(os.ReadFile(out))) != "what it wrote\n" {
		t.Error("its output is elsewhere")
	}

	items, notices := 0, 0
	for _, l := range got.Ledger {
		if l.Inbox != "" {
			items++
		}
		if notices += len(l.Tell); l.Type == state.LineDelivery {
			notices--
		}
	}
	if items -= 1; release != early && (len(got.Inbox) != items || len(got.Outbox) != notices) || release == early && len(got.Inbox)+len(got.Outbox) > 0 {
		t.Errorf("%d items, want %d, as one was acknowledged; %d notices, want %d", len(got.Inbox), items, len(got.Outbox), notices)
	}

	// And gone on with.
	if e, err := s.Add(ctx, keyed(once("n"), "news"), day2); !errors.Is(err, state.ErrKept) || e.Task.ID != news.Task.ID {
		t.Errorf("its key: %+v %v", e, err)
	}
	e := must[state.Entry](t)(s.Add(ctx, once("n"), day2))
	for _, l := range got.Ledger {
		if l.TaskID == e.Task.ID {
			t.Errorf("ID %s was given again", e.Task.ID)
		}
	}
	r := must[state.Record](t)(s.Claim(ctx, news.Task.ID, day2, time.Time{}, state.Ident{}, day2))
	if r.Number != 2 {
		t.Errorf("its next number is %d", r.Number)
	}
	for _, r := range append(got.Open, r) {
		if err := s.End(ctx, r, state.Line{At: day2, Outcome: state.OK, Inbox: state.ItemResult}); err != nil {
			t.Error(err)
		}
	}
	taken, _, _, err := s.Take(ctx, state.Query{}, day2.AddDate(1, 0, 0), day2.AddDate(2, 0, 0))
	if err != nil || len(taken) != len(got.Inbox)+len(got.Open)+1 {
		t.Errorf("%d items can be taken, %v", len(taken), err)
	}
	for _, i := range taken {
		if err := s.Ack(ctx, []string{i.ID})[0]; err != nil {
			t.Error(err)
		}
	}
	for _, n := range got.Outbox {
		if err := s.Told(ctx, n, state.Line{At: day2, Delivered: true}); err != nil {
			t.Error(err)
		}
	}
	must[state.Entry](t)(s.Resume(ctx, byText["paused until"].Task.ID, day2))
	must[state.Entry](t)(s.Restore(ctx, byText["removed"].Task.ID, day2, day1))
	must[state.Entry](t)(s.Restore(ctx, byText["removed before"].Task.ID, day2, day1))
	task := byText["a message"].Task
	task.Text = "changed"
	must[state.Entry](t)(s.Update(ctx, task, day2, day1, nil))
	if keys := keysFound(t, s); len(keys) != 1 {
		t.Errorf("unknown keys after an edit are %v", keys)
	}
	clean(t, s)
}

// TestNewerTask: a task that a later version wrote is refused by name and left alone, whatever is asked of it; no other suffers.
func TestNewerTask(t *testing.T) {
	s := copyOf(t, released)
	tasks, _ := read(t, s)
	for _, e := range tasks.Tasks {
		t.Run(e.Task.Description, func(t *testing.T) {
			s := copyOf(t, released)
			id := e.Task.ID
			f := whereIs(t, s, id)
			path := s.path(f.place())
			newer := append([]byte("format = 2\nnew = { a = [ # what this version cannot even read\n"), must[[]byte](t)(os.ReadFile(path))...)
			if err := os.WriteFile(path, newer, 0o600); err != nil {
				t.Fatal(err)
			}
			c, problems := read(t, s)
			if len(c.Tasks) != len(tasks.Tasks)-1 || len(problems) != 1 || problems[0].Path != path || !errors.Is(problems[0].Err, state.ErrNewer) {
				t.Errorf("%d tasks of %d, %v", len(c.Tasks), len(tasks.Tasks), problems)
			}
			_, errFind := s.Find(ctx, id)
			_, errClaim := s.Claim(ctx, id, f.time(), f.time().Add(time.Hour), state.Ident{}, day0)
			_, errUpdate := s.Update(ctx, e.Task, time.Time{}, day0, nil)
			_, errPause := s.Pause(ctx, id, day2, day0)
			_, errResume := s.Resume(ctx, id, day0)
			_, errRemove := s.Remove(ctx, id, day0)
			_, errRestore := s.Restore(ctx, id, day2.Add(time.Hour), day0)
			_, errFire := s.Fire(ctx, id, state.Ident{}, day0)
			errFinish := s.Finish(ctx, id, "enough", day0)
			errMove := s.Move(ctx, id, f.time(), day2.Add(2*time.Hour), day0)
			errs := []error{errFind, errClaim, errUpdate, errPause, errResume, errRemove, errRestore, errFire, errFinish, errMove}
			for _, r := range e.Open {
				errs = append(errs, s.Release(ctx, r))
			}
			if e.Task.Key != "" && e.Phase != state.Removed {
				_, err := s.Add(ctx, keyed(once("n"), e.Task.Key), day2)
				errs = append(errs, err)
			}
			said := 0
			for i, err := range errs {
				if errors.Is(err, state.ErrNewer) {
					said++
				} else if !errors.Is(err, state.ErrTaken) && !errors.Is(err, state.ErrEnded) { // which its name alone says
					t.Errorf("call %d: %v", i, err)
				}
			}
			if said == 0 {
				t.Error("nobody said that it is newer")
			}
			if moved, err := s.Quarantine(ctx, 0); err != nil || len(moved) > 0 {
				t.Errorf("set aside: %v %v", moved, err)
			}
			clean(t, s)
			if now, err := os.ReadFile(path); err != nil || string(now) != string(newer) {
				t.Errorf("it was touched: %v", err)
			}
		})
	}
}

// whereIs is the file of a task.
func whereIs(t *testing.T, s *Store, id string) found {
	t.Helper()
	tx := must[*tx](t)(s.begin(ctx))
	defer tx.done()
	all := must[*names](t)(tx.list(everything, id)).byTask()[id]
	if len(all) != 1 {
		t.Fatalf("%s has the files %v", id, all)
	}
	return all[0]
}

// head0 is the head of the log of commits once that is empty.
func head0(t *testing.T, s *Store) position {
	t.Helper()
	if err := s.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	data := must[[]byte](t)(os.ReadFile(s.path(commitsFile)))
	p, ok := s.readHead(data)
	if !ok || p.Size != headSize {
		t.Fatalf("the log of commits begins with %q", data)
	}
	return p
}

// makeRelease makes the folder, with all that a state folder can have in it.
func makeRelease(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	boot := func() string { return "0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f1" }
	s := must[*Store](t)(Open(dir, Options{PartMost: 4 << 10, boot: boot})) // so that the ledger is in parts
	who := state.Ident{PID: 4711, Start: 123456, Boot: "6e8a9b1c-0d2f-4a3b-8c5d-7e6f5a4b3c2d", NS: "pid:[4026531836]"}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	add := func(task state.Task, due time.Time) state.Entry {
		t.Helper()
		return must[state.Entry](t)(s.Add(ctx, task, due))
	}
	claim := func(id string, due, next time.Time) state.Record {
		t.Helper()
		return must[state.Record](t)(s.Claim(ctx, id, due, next, who, due.Add(2*time.Millisecond)))
	}
	end := func(r state.Record, o state.Outcome, code int) {
		t.Helper()
		started, ended := r.Due.Add(time.Millisecond), r.Due.Add(time.Second)
		do(s.End(ctx, r, state.Line{At: ended, Outcome: o, Reason: "why", Started: &started, Ended: &ended, Late: 0.001, Attempts: 2, Backlog: o == state.Failed,
			Stop: "count", ExitCode: &code, Signal: "SIGTERM", Stdout: state.Output{Bytes: 14, Truncated: code != 0}, Stderr: state.Output{Bytes: 1 << 20, Truncated: true},
			Ignored: code, User: 0.25, System: 0.5, MaxRSS: 1 << 20, Description: r.Task.Summary(), Text: r.Task.Text, Tell: []string{"desktop", "email:me@example.org"}[:min(code, 2)],
			News: map[bool]string{true: state.NewsFailure}[code > 0], Inbox: []string{state.ItemResult, state.ItemFailure}[min(code, 1)], StdoutSum: "9f86d081884c7d65"}))
	}
	full := state.Task{
		Created: day0.Add(-time.Hour), Key: "news", Description: "every field", Text: "payload\x1b[31m, \"quoted\"\nünïcode ☕", Terminal: "/dev/pts/3",
		When: state.Timing{Text: "every weekday at 9am", Form: "every", Kind: "rrule", Zone: "Europe/Warsaw", Wall: "2026-11-23T09:00:00", Start: day0,
			Given: true, End: day2.AddDate(1, 0, 0), Count: 7, Jitter: "30m0s", Delay: "12m3.5s"},
		Run: state.Job{Argv: []string{"fetch", "--all", "", "a b"}, Dir: "/home/me", Umask: 0o22, Env: map[string]string{"PATH": "/bin", "A.B": "x=y", "EMPTY": ""}},
		Policy: state.Policy{Catchup: state.CatchupAll, Window: "2h0m0s", Overlap: state.OverlapQueue, If: "test -e go", Timeout: "10m0s", Retries: 3,
			Backoff: "5s", Rerun: true, UntilOK: true, UntilOutput: "^done", Notify: []string{"desktop", "email:me@example.org"}, NotifyOn: state.NotifyChange, Prefix: "[news] "},
	}
	news := add(full, day0)
	out, errs := outputPaths(s, news.Task.ID, 1)
	r := claim(news.Task.ID, day0, day2)
	do(os.WriteFile(out, []byte("what it wrote\n"), 0o600))
	do(os.WriteFile(errs, []byte("complaints\n"), 0o600))
	end(r, state.OK, 0)
	script := daily("a script")
	script.Run = state.Job{Script: "#!/bin/sh\n# end\necho '''\n", Prog: "/bin/sh", Dir: "/"}
	shell := daily("a shell line")
	shell.Run = state.Job{Shell: "echo $HOME", Prog: "/bin/sh", Dir: "/"}
	for _, a := range s.AddAll(ctx, []state.Draft{
		{Task: state.Task{Created: day0, Description: "a message", Text: "tea", When: once("").When}, Due: day1},
		{Task: script, Due: day2.Add(time.Hour)}, {Task: shell, Due: day0},
	}) {
		do(a.Err)
	}
	skipped := must[[]state.Entry](t)(s.Find(ctx, state.ID(3)))[0].Task.ID
	last := day1
	do(s.Skip(ctx, skipped, day0, day2, state.Line{At: day1, DueLast: &last, Count: 2, Outcome: state.Missed, Reason: "coalesced"}))
	do(s.Move(ctx, skipped, day2, day1.Add(time.Hour), day1))
	must[state.Entry](t)(s.Rewind(ctx, must[[]state.Entry](t)(s.Find(ctx, skipped))[0].Task, day0.Add(time.Hour), day0))
	do(s.SetClockShift(ctx, state.ClockShift{Peak: day2, Stayed: 20 * time.Minute, Boot: who.Boot, At: 3 * time.Hour}))

	edited := add(daily("before"), day0)
	edited.Task.Description = "edited"
	edited = must[state.Entry](t)(s.Update(ctx, edited.Task, day1, day0, nil))
	end(claim(edited.Task.ID, day1, day1.Add(time.Hour)), state.TimedOut, 1)
	end(must[state.Record](t)(s.Fire(ctx, edited.Task.ID, who, day1.Add(time.Minute))), state.Interrupted, 1)
	r = claim(edited.Task.ID, day1.Add(time.Hour), day2)
	r.Starting, r.Started, r.First, r.Attempt, r.Child = day1.Add(time.Hour), day1.Add(time.Hour), day1.Add(time.Hour-time.Minute), 2, who
	r.Retry = day1.Add(2 * time.Hour)
	do(s.Note(ctx, r))
	do(s.Halt(ctx, r, "stop"))

	end(claim(add(once("ended"), day0).Task.ID, day0, time.Time{}), state.Failed, 3)
	finished := add(daily("finished"), day0)
	end(claim(finished.Task.ID, day0, day1), state.OK, 0)
	do(s.Finish(ctx, finished.Task.ID, "until_ok", day0))
	removed := add(keyed(daily("removed"), "gone"), day1)
	must[state.Entry](t)(s.Remove(ctx, removed.Task.ID, day0))
	must[state.Entry](t)(s.Restore(ctx, removed.Task.ID, day1, day0))
	must[state.Entry](t)(s.Remove(ctx, removed.Task.ID, day0))
	without := add(daily("removed before"), day1)
	must[state.Entry](t)(s.Remove(ctx, without.Task.ID, day0))
	n := name{due: day1.Format(stamp), id: without.Task.ID, extra: day0.Format(stamp)}
	do(os.Rename(s.path(removedDir+"/"+n.file()), s.path(removedDir+"/"+n.queue()))) // as before it had a third part
	must[state.Entry](t)(s.Pause(ctx, add(daily("paused"), day1).Task.ID, time.Time{}, day0))
	until := add(daily("paused until"), day0)
	must[state.Entry](t)(s.Pause(ctx, until.Task.ID, day1, day0))
	must[state.Entry](t)(s.Resume(ctx, until.Task.ID, day0))
	must[state.Entry](t)(s.Pause(ctx, until.Task.ID, day2, day0))
	do(s.Skip(ctx, until.Task.ID, day0, day1, state.Line{At: day0, Outcome: state.Skipped, Reason: "paused"}))
	cancelled := add(daily("cancelled"), day0)
	do(s.Skip(ctx, cancelled.Task.ID, day0, day1, state.Line{At: day0, Outcome: state.Cancelled}))
	do(os.WriteFile(s.path(queueDir+"/"+name{due: day1.Format(stamp), id: cancelled.Task.ID}.queue()), []byte("not TOML"), 0o600))
	if moved := must[[]state.Problem](t)(s.Quarantine(ctx, 0)); len(moved) != 1 {
		t.Fatal(moved)
	}
	wait := from(state.ID(4), daily("a wait"))
	wait.Run, wait.Wait = state.Job{}, state.Wait{Text: "10m", Kind: "interval", Elapsed: true, Again: []string{"wait", "10m"}}
	add(wait, day2)
	agent := daily("an agent")
	agent.Run = state.Job{Agent: []string{"agent", "--stdio"}, Dir: "/"}
	agent.Reminder = state.Reminder{Title: "tea", Project: "home", Priority: state.PriorityHigh, Request: true}
	agent.Policy.NoPrefix = true
	add(agent, day2)
	due := func() []state.Notice {
		t.Helper()
		list, _, _, err := s.Outbox(ctx, day2, 0)
		do(err)
		return list
	}
	for _, line := range []state.Line{{At: day2, Delivered: true, Attempts: 1}, {At: day2, Attempts: 20, Reason: "no route to host", Inbox: state.ItemUndelivered}} {
		do(s.Told(ctx, due()[0], line))
	}
	later := due()[0]
	later.Due, later.Attempts, later.Last = day2, 3, "refused"
	do(s.Postpone(ctx, later))
	items, _, _, err := s.Take(ctx, state.Query{Limit: 2}, day2, day2.Add(10*time.Minute))
	do(err)
	do(s.Ack(ctx, []string{items[0].ID})[0])
	// A key that a later version, or a hand, has put there.
	path := s.path(queueDir + "/" + name{due: day1.Format(stamp), id: state.ID(1)}.queue())
	do(os.WriteFile(path, append([]byte("colour = \"red\"\n"), must[[]byte](t)(os.ReadFile(path))...), 0o600))
	l := must[state.Lease](t)(s.Lead(ctx, state.Leader{Ident: who, Since: day0, Version: "1.0.0", Mode: "background"}))
	do(l.Release())

	// The reason why it was set aside names the folder it was made in.
	at := head0(t, s)
	rewrite := func(place string) {
		var text []byte
		for line := range bytes.Lines(must[[]byte](t)(os.ReadFile(s.path(place)))) {
			if bytes.Contains(line, []byte(dir)) {
				var e ledger.Entry
				do(json.Unmarshal(bytes.ReplaceAll(line, []byte(dir), []byte("/home/me/.ouro")), &e))
				line = must[[]byte](t)(e.Text())
			}
			text = append(text, line...)
		}
		do(os.WriteFile(s.path(place), text, 0o600))
		at.Ledger = int64(len(text))
	}
	for _, number := range must[[]int](t)(s.ledger.Parts()) {
		rewrite(runsDir + "/" + ledger.PartName(number))
	}
	rewrite(ledgerFile)
	do(os.WriteFile(s.path(commitsFile), at.head(), 0o600))

	c, problems := read(t, open(t, dir))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	covered(t, c)
	do(os.RemoveAll(released))
	do(os.MkdirAll(released, 0o755))
	f := pack(t, dir)
	f.unpack(t, released)
	do(os.WriteFile(released+".json", append(must[[]byte](t)(json.MarshalIndent(c, "", " ")), '\n'), 0o644))
}

// covered checks that no field of what is kept is empty throughout, and that every event and outcome is in the ledger.
func covered(t *testing.T, c content) {
	filled, all := map[string]bool{}, map[string]bool{}
	var look func(where string, v reflect.Value)
	look = func(where string, v reflect.Value) {
		switch {
		case v.Kind() == reflect.Pointer && !v.IsNil():
			all[where], filled[where] = true, true
			look(where, v.Elem())
			return
		case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
			for i := range v.Len() {
				look(where, v.Index(i))
			}
			return
		case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
			for i := range v.NumField() {
				look(where+"."+v.Type().Field(i).Name, v.Field(i))
			}
			return
		}
		all[where] = true
		filled[where] = filled[where] || !v.IsZero()
	}
	look("", reflect.ValueOf(c))
	for where := range all {
		if !filled[where] && where != ".Tasks.Attended" && !strings.HasPrefix(where, ".Open.Task.") && !strings.HasPrefix(where, ".Tasks.Open.") && where != ".Open.Manual" &&
			!strings.HasPrefix(where, ".Inbox.Line.") && !strings.HasPrefix(where, ".Outbox.Line.") {
			t.Errorf("%s is never there", where)
		}
	}
	said := map[string]bool{}
	for _, l := range c.Ledger {
		said[l.Type], said[l.Event], said[string(l.Outcome)] = true, true, true
	}
	for _, word := range []string{state.LineOccurrence, state.LineManual, state.LineTask, state.LineDelivery, state.EventCreated, state.EventRemoved, state.EventMoved,
		state.EventRestored, state.EventQuarantined, state.EventEdited, state.EventPaused, state.EventResumed, state.EventFinished, state.EventClock,
		string(state.OK), string(state.Failed), string(state.TimedOut), string(state.Interrupted), string(state.Missed), string(state.Skipped),
		string(state.Cancelled)} {
		if !said[word] {
			t.Errorf("the ledger has no %s", word)
		}
	}
}
