package files

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// FuzzParseCommits: what is written is read back. With a byte of it altered no other record is read, and with anything at all nothing panics.
func FuzzParseCommits(f *testing.F) {
	f.Add([]byte("data\n"), "sum", uint64(7), int64(12), 30, byte(1), []byte("commit 1 2 0123456789abcdef\n{}"))
	f.Add([]byte{}, "", uint64(0), int64(0), 0, byte(0xff), []byte("commit 1 -1 x\n"))
	f.Add([]byte("commit 2 3 4\n"), "0123456789abcdef", uint64(1<<63), int64(-1), 200, byte('\n'), []byte("commit 99999999999999999999 1 0123456789abcdef\n{"))
	f.Add([]byte("\x00\n\n"), "x", uint64(1), int64(1<<62), 1, byte(2), commit{position: position{Seq: 1}, ops: []op{{kind: opPut, place: "a/b", data: []byte("x")}}}.text())
	body := []byte("{\"seq\":3}\nput a - 9223372036854775807\nx\n")
	f.Add([]byte("x"), "", uint64(1), int64(1), 1, byte(2), fmt.Appendf(nil, "commit 3 %d %s\n%s", len(body), sumOf(body), body))
	f.Fuzz(func(t *testing.T, data []byte, was string, seq uint64, at int64, where int, flip byte, any []byte) {
		parseCommits(any, headSize)
		if strings.ContainsAny(was, " \n") || was == "-" {
			was = ""
		}
		want := []commit{
			{position: position{Seq: seq, IDs: 3, Mail: "m", Ledger: at}, ops: []op{{kind: opPut, place: queueDir + "/a", data: data, was: was}}},
			{position: position{Seq: seq + 1}, ops: []op{{kind: opMove, place: "a/b", to: "c/d", was: was}, {kind: opRemove, place: "a/b", was: was},
				{kind: opAppend, place: ledgerFile, at: at, data: data}, {kind: opPut, place: "x/y", data: []byte{}}}},
			{position: position{Seq: seq + 2}, ops: []op{{kind: opRemove, place: "a/b"}}},
		}
		var text []byte
		for i, c := range want {
			text = append(text, c.text()...)
			want[i].end = headSize + int64(len(text))
			for k, o := range c.ops {
				if len(o.data) == 0 && (o.kind == opPut || o.kind == opAppend) {
					want[i].ops[k].data = []byte{}
				}
			}
		}
		got, torn := parseCommits(text, headSize)
		if torn != 0 || !reflect.DeepEqual(got, want) {
			t.Fatalf("%d torn\n%+v\nwant\n%+v", torn, got, want)
		}
		cut := max(where, 0) % len(text)
		got, torn = parseCommits(text[:cut], headSize)
		if len(got) >= len(want) || len(got) > 0 && !reflect.DeepEqual(got, want[:len(got)]) || (torn == 0) != (len(got) == 0 && cut == 0 || len(got) > 0 && got[len(got)-1].end == headSize+int64(cut)) {
			t.Fatalf("cut after %d bytes: %d torn, %+v", cut, torn, got)
		}
		if flip == 0 {
			return
		}
		text[cut] ^= flip
		got, torn = parseCommits(text, headSize)
		if len(got) > 0 && !reflect.DeepEqual(got, want[:len(got)]) { // a space that has become a tab leaves it as it was
			t.Fatalf("byte %d altered by %#x: %d torn\n%+v\nwas\n%+v", cut, flip, torn, got, want)
		}
	})
}

// TestAlteredCommit alters every byte of a record and of the head by every bit of it.
func TestAlteredCommit(t *testing.T) {
	c := commit{position: position{Seq: 12, IDs: 3, Ledger: 700}, ops: []op{{kind: opPut, place: queueDir + "/a", data: []byte("x\n"), was: "0123456789abcdef"},
		{kind: opMove, place: "a/b", to: "c/d"}, {kind: opAppend, place: ledgerFile, at: 690, data: []byte("{}\n")}}}
	text := c.text()
	head := position{Boot: "b", Size: headSize, Seq: 12, IDs: 3, Ledger: 700}.head()
	s := &Store{}
	for bit := range 8 {
		for i := range text {
			data := bytes.Clone(text)
			data[i] ^= 1 << bit
			if got, torn := parseCommits(data, headSize); len(got) > 0 || torn != int64(len(data)) {
				t.Errorf("byte %d, bit %d: %+v", i, bit, got)
			}
		}
		for i := range bytes.TrimRight(head, " \n") {
			data := bytes.Clone(head)
			data[i] ^= 1 << bit
			if p, ok := s.readHead(data); ok {
				t.Errorf("byte %d of the head, bit %d: %+v", i, bit, p)
			}
		}
	}
}

// records are those in the log of commits, and the head of it.
func records(t *testing.T, s *Store) (list []commit, head position) {
	t.Helper()
	data := must[[]byte](t)(os.ReadFile(s.path(commitsFile)))
	list, torn := parseCommits(data[min(headSize, len(data)):], headSize)
	if torn > 0 {
		t.Errorf("%d bytes of the log are torn", torn)
	}
	head, _ = s.readHead(data[:min(headSize, len(data))])
	return list, head
}

// told opens a store that appends what it reports to a list, on a boot of the machine.
func told(t *testing.T, dir, boot string, list *[]state.Problem) *Store {
	t.Helper()
	o := Options{disk: lazyDisk{}, Limits: few, Report: func(p state.Problem) { *list = append(*list, p) }}
	if boot != "" {
		o.boot = func() string { return boot }
	}
	return must[*Store](t)(Open(dir, o))
}

// busy is a store in the log of which is much: two tasks with keys, one of which runs, one that has ended with mail, one that was removed, one
// that is paused.
func busy(t *testing.T, dir string, d disk) *Store {
	t.Helper()
	s := lazy(t, dir, d)
	var ids []string
	for i, n := range []string{"runs", "waits", "ended", "removed", "paused"} {
		ids = append(ids, must[state.Entry](t)(s.Add(ctx, keyed(daily(n), n), day0.Add(time.Duration(i)*time.Minute))).Task.ID)
	}
	claim := func(i int, next time.Time) state.Record {
		t.Helper()
		return must[state.Record](t)(s.Claim(ctx, ids[i], day0.Add(time.Duration(i)*time.Minute), next, state.Ident{PID: 2}, day1))
	}
	r := claim(0, day2)
	r.Starting, r.Attempt = day1, 1
	if err := s.Started(ctx, r); err != nil {
		t.Fatal(err)
	}
	end := state.Line{At: day1, Outcome: state.Failed, Inbox: state.ItemFailure, Tell: []string{"desktop"}}
	if err := s.End(ctx, claim(2, time.Time{}), end); err != nil {
		t.Fatal(err)
	}
	must[state.Entry](t)(s.Remove(ctx, ids[3], day1))
	must[state.Entry](t)(s.Pause(ctx, ids[4], day2, day1))
	return s
}

// TestTornCommit: what comes after the last whole record, because its writer died or by a bad disk, is cut off and said; all before it stays,
// and the next commits come after it. The same is seen by who only reads.
func TestTornCommit(t *testing.T) {
	dir := scratch(t)
	s := busy(t, dir, nil)
	want := dump(t, s)
	whole := must[[]byte](t)(os.ReadFile(s.path(commitsFile)))
	another := commit{position: position{Seq: 99, IDs: 400}, ops: []op{{kind: opRemove, place: tallyPlace(firstID)}}}.text()
	altered := bytes.Clone(another)
	altered[len(altered)-2] ^= 1
	for what, tail := range map[string][]byte{"half of a record": another[:len(another)-3], "a few bytes": []byte("commi"), "a line": []byte("commit 9 5 0123456789abcdef\n"),
		"zeros": make([]byte, 5000), "an altered record": altered} {
		for _, boot := range []string{"", "another"} {
			if err := os.WriteFile(s.path(commitsFile), append(bytes.Clone(whole), tail...), 0o600); err != nil {
				t.Fatal(err)
			}
			var said []state.Problem
			s := told(t, dir, boot, &said)
			if got := dump(t, s); got != want {
				t.Errorf("%s: seen\n%s\nwant\n%s", what, got, want)
			}
			if len(said) != 1 || said[0].Path != s.path(commitsFile) || !errors.Is(said[0].Err, state.ErrTorn) || said[0].Hint == "" {
				t.Errorf("%s: said %v", what, said)
			}
			settle(t, s)
			if got := dump(t, s); got != want || len(said) != 1 {
				t.Errorf("%s: then\n%s\nwant\n%s\nsaid %v", what, got, want, said)
			}
			if info := must[os.FileInfo](t)(os.Stat(s.path(commitsFile))); boot == "" && info.Size() != int64(len(whole)) || boot != "" && info.Size() != headSize {
				t.Errorf("%s: the log has %d bytes, and had %d", what, info.Size(), len(whole))
			}
			if _, head := records(t, s); head.Boot == "" || head.IDs != 5 {
				t.Errorf("%s: the head is %+v", what, head)
			}
		}
	}
	if e := must[state.Entry](t)(s.Add(ctx, once("n"), day0)); e.Task.ID != state.ID(5) {
		t.Errorf("the next ID is %s", e.Task.ID)
	}
}

// TestDamagedLog: with nothing lost but the log itself, all of it or a part, nothing that was committed is, and IDs go on; also after the next
// start of the machine.
func TestDamagedLog(t *testing.T) {
	dir := scratch(t)
	s := busy(t, dir, nil)
	want := dump(t, s)
	log := must[[]byte](t)(os.ReadFile(s.path(commitsFile)))
	list, _ := records(t, s)
	if len(list) < 9 {
		t.Fatalf("%d records", len(list))
	}
	before := pack(t, dir)
	flipped := func(at int64) []byte {
		data := bytes.Clone(log)
		data[at] ^= 1
		return data
	}
	for what, data := range map[string][]byte{"gone": nil, "empty": {}, "short": log[:100], "of zeros": make([]byte, len(log)), "without records": log[:headSize],
		"with a damaged head": flipped(20), "with a damaged first record": flipped(headSize + 10), "with a damaged record": flipped(list[4].end + 30),
		"with a damaged last record": flipped(int64(len(log)) - 2), "not ours": []byte(strings.Repeat("hello\n", 300))} {
		for _, boot := range []string{"", "another"} {
			before.unpack(t, dir)
			if err := os.Remove(s.path(commitsFile)); err != nil {
				t.Fatal(err)
			}
			if what != "gone" {
				if err := os.WriteFile(s.path(commitsFile), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var said []state.Problem
			s := told(t, dir, boot, &said)
			settle(t, s)
			if got := dump(t, s); got != want {
				t.Errorf("%s, boot %q: seen\n%s\nwant\n%s", what, boot, got, want)
			}
			for _, p := range said {
				if p.Path != s.path(commitsFile) && p.Hint != "it stays as it is" {
					t.Errorf("%s, boot %q: said %v", what, boot, p)
				}
			}
			e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
			if e.Task.ID != state.ID(5) {
				t.Errorf("%s, boot %q: the next ID is %s", what, boot, e.Task.ID)
			}
			next := dump(t, s)
			s = told(t, dir, "a third one", &said)
			settle(t, s)
			if got := dump(t, s); got != next {
				t.Errorf("%s, boot %q: after a start of the machine\n%s\nwant\n%s", what, boot, got, next)
			}
			clean(t, s)
		}
	}
}

// TestLostFiles: each file that was written since the log was last empty may be lost or damaged with the power, and is made again. Of what
// was noted of a run without waiting nobody knows then.
func TestLostFiles(t *testing.T) {
	dir := scratch(t)
	s := busy(t, dir, nil)
	want := dump(t, s)
	claims, _, err := s.Open(ctx)
	if err != nil || len(claims) != 1 {
		t.Fatal(claims, err)
	}
	folder := pack(t, dir)
	lost := 0
	for place, data := range folder.files {
		if place == "/"+commitsFile || place == "/"+lockFile {
			continue
		}
		for what, left := range map[string][]byte{"lost": nil, "empty": {}, "of zeros": make([]byte, len(data)), "half there": data[:len(data)/2],
			"half of zeros": append(bytes.Clone(data[:len(data)/2]), make([]byte, len(data)-len(data)/2)...)} {
			lost++
			folder.unpack(t, dir)
			if err := os.Remove(dir + place); err != nil {
				t.Fatal(err)
			}
			if left != nil {
				if err := os.WriteFile(dir+place, left, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := rebooted(t, dir)
			if got := dump(t, s); got != strings.ReplaceAll(want, "manual false, 1 ", "manual false, 0 ") && (got != want || strings.Contains(place, openDir)) {
				t.Errorf("%s is %s: seen\n%s\nwant\n%s", place, what, got, want)
			}
			again := must[[]byte](t)(os.ReadFile(dir + place))
			if !strings.Contains(place, openDir) && !bytes.Equal(again, data) {
				t.Errorf("%s is %s: made again it is\n%s\nand was\n%s", place, what, again, data)
			}
			got, problems, err := s.Open(ctx)
			if err != nil || len(problems) > 0 || len(got) != 1 || got[0].Due != claims[0].Due || got[0].Number != 1 || got[0].Runner != claims[0].Runner ||
				!reflect.DeepEqual(got[0].Task, claims[0].Task) {
				t.Errorf("%s is %s: open are %+v %v %v, and was %+v", place, what, got, problems, err, claims[0])
			}
			keysHold(t, s)
		}
	}
	if lost < 60 {
		t.Errorf("only %d were lost", lost)
	}
}

// TestLostLock: who reads first after the power was lost sees what was committed also when the file that is locked was lost, too, as may be
// after the first change ever.
func TestLostLock(t *testing.T) {
	dir := filepath.Join(scratch(t), "state")
	e := must[state.Entry](t)(lazy(t, dir, nil).Add(ctx, once("n"), day0))
	s := rebooted(t, dir)
	if err := errors.Join(os.Remove(s.path(lockFile)), os.Remove(s.PathOf(e))); err != nil {
		t.Fatal(err)
	}
	if list, problems, err := state.All(ctx, s); err != nil || len(problems) > 0 || len(list) != 1 {
		t.Errorf("%v %v %v", list, problems, err)
	}
}

// TestClaimWithoutTask: a claim whose record and whose task's file are damaged while the machine runs is open all the same, and keeps no runner
// from starting; the next start of the machine makes both again.
func TestClaimWithoutTask(t *testing.T) {
	dir := scratch(t)
	s := lazy(t, dir, nil)
	e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	r := must[state.Record](t)(s.Claim(ctx, e.Task.ID, day0, time.Time{}, state.Ident{PID: 2}, day0))
	n := must[name](t)(nameOf(e.Task.ID, day0))
	for _, place := range []string{openDir + "/" + n.record(), endedDir + "/" + n.queue()} {
		if err := os.WriteFile(s.path(place), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	next := lazy(t, dir, nil)
	l := must[state.Lease](t)(next.Lead(ctx, state.Leader{}))
	open, problems, err := next.Open(ctx)
	if err != nil || len(open) != 1 || len(problems) != 1 || open[0].Task.ID != e.Task.ID || !open[0].Due.Equal(day0) {
		t.Errorf("open %v, %v, %v", open, problems, err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	next = rebooted(t, dir)
	open, problems, err = next.Open(ctx)
	if err != nil || len(problems) > 0 || len(open) != 1 || !reflect.DeepEqual(open[0], r) {
		t.Errorf("after a start of the machine %+v, %v, %v, want %+v", open, problems, err, r)
	}
	if err := next.End(ctx, open[0], state.Line{At: day1, Outcome: state.Interrupted}); err != nil {
		t.Error(err)
	}
}

// TestRefusedInTheMiddle: a change that is refused when a part of it has been collected leaves nothing of it, and the others in its batch happen.
func TestRefusedInTheMiddle(t *testing.T) {
	s := lazy(t, scratch(t), nil)
	a, b := must[state.Entry](t)(s.Add(ctx, daily("a"), day0)), must[state.Entry](t)(s.Add(ctx, daily("b"), day0))
	far := time.Date(10001, 1, 1, 0, 0, 0, 0, time.UTC) // no line can say that
	passed := state.Line{At: day1, Due: &day0, Outcome: state.Skipped, Inbox: state.ItemMissed}
	before := dump(t, s)
	a.Task.Description = "changed"
	if _, err := s.Update(ctx, a.Task, day2, far, &passed); !errors.Is(err, state.ErrInvalid) {
		t.Errorf("%v", err)
	}
	if after := dump(t, s); after != before {
		t.Errorf("refused, and there is\n%s\nbefore\n%s", after, before)
	}
	answers := s.Apply(ctx,
		state.Change{ID: a.Task.ID, Now: day1, Rule: state.Update(a.Task, day2, far, &passed)},
		state.Change{ID: b.Task.ID, Now: day1, Rule: state.Pause(time.Time{}, day1)})
	if !errors.Is(answers[0].Err, state.ErrInvalid) || answers[1].Err != nil {
		t.Errorf("%v %v", answers[0].Err, answers[1].Err)
	}
	must[state.Entry](t)(s.Resume(ctx, b.Task.ID, day1))
	for _, line := range logged(t, s, a.Task.ID) {
		if !strings.Contains(line, state.EventCreated) {
			t.Errorf("the ledger has %s", line)
		}
	}
	if items, _, _, err := s.Inbox(ctx, state.Query{}); err != nil || len(items) > 0 {
		t.Errorf("the inbox has %v %v", items, err)
	}
	settle(t, rebooted(t, s.Dir()))
}

// TestFailTwice lets the disk refuse two steps of every operation that come one after the other: that something is refused, and cannot be taken
// back at once, either. With an error it has not happened, or happens whole with the next change; never a half of it.
func TestFailTwice(t *testing.T) {
	clocktest.Alone(t)
	for _, c := range scenarios {
		if c.row {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := c.world(t)
			for at := 1; ; at++ {
				first := &faultDisk{disk: lazyDisk{}, at: at, err: syscall.EIO}
				d := &faultDisk{disk: first, at: at, err: syscall.EIO} // it counts what the first one lets through, too
				s := w.copy(t, d)
				err := c.op(s, w.record)
				if !d.hit {
					break
				}
				if !thorough && spared(fmt.Sprint(c.name, at)) {
					continue
				}
				s = lazy(t, w.at, nil)
				settle(t, s)
				got := look(t, s)
				where := fmt.Sprintf("steps %d and %d, a %s: %v", at, at+1, d.kind, err)
				switch {
				case err == nil && got.text == w.before && c.name == "cut the ledger": // housekeeping, which is put off
				case err == nil && got.text != w.after:
					t.Errorf("%s: acknowledged and not done\n%s\nwant\n%s", where, got.text, w.after)
				case got.text != w.before && got.text != w.after && !w.subsets[got.text]:
					t.Errorf("%s: half done\n%s\nbefore\n%s\nafter\n%s", where, got.text, w.before, w.after)
				}
				w.goesOn(t, s, got, where)
			}
		})
	}
}
