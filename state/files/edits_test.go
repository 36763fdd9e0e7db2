package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestEditsByHand: while somebody watches, a mistake made in an editor is told soon, however the editor saves; what cannot be
// understood is set aside whole; good edits and other tasks are left alone.
func TestEditsByHand(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not name what has changed")
	}
	dir := t.TempDir()
	reports := make(chan state.Problem, 64)
	s := must[*Store](t)(Open(dir, Options{
		Report: func(p state.Problem) { reports <- p },
		Check: func(t state.Task) error {
			if strings.Contains(t.When.Text, "blue moon") {
				return errors.New("has a schedule that cannot be read")
			}
			return nil
		},
	}))
	watching, stop := context.WithCancel(ctx)
	defer stop()
	must[state.Queue](t)(s.Follow(watching))
	path := map[string]string{}
	for _, text := range []string{"in place", "renamed over", "deleted and written", "misnamed", "words", "good", "untouched"} {
		e := must[state.Entry](t)(s.Add(ctx, once(text), day0))
		path[text] = s.path(queueDir + "/" + name{due: day0.Format(stamp), id: e.Task.ID}.queue())
	}
	text := func(what string) string { return string(must[[]byte](t)(os.ReadFile(path[what]))) }
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(path["in place"], "broken = [\n"+text("in place"))
	write(path["renamed over"]+"~", strings.Replace(text("renamed over"), "[when]", "[when", 1)) // vim, emacs, sed -i
	if err := os.Rename(path["renamed over"]+"~", path["renamed over"]); err != nil {
		t.Fatal(err)
	}
	lost := text("deleted and written")
	os.Remove(path["deleted and written"])
	write(path["deleted and written"], lost[:len(lost)/2])
	if err := os.Rename(path["misnamed"], filepath.Join(filepath.Dir(path["misnamed"]), "soon.toml")); err != nil {
		t.Fatal(err)
	}
	write(path["words"], strings.Replace(text("words"), "text = ", "text = \"every blue moon\" #", 1))
	write(path["good"], strings.Replace(text("good"), "description = ", "description = \"better\" #", 1))

	want := map[string]string{
		filepath.Base(path["in place"]):            "cannot be understood",
		filepath.Base(path["renamed over"]):        "cannot be understood",
		filepath.Base(path["deleted and written"]): "cut short",
		"soon.toml":                  "never runs",
		filepath.Base(path["words"]): "a schedule that cannot be read",
	}
	for end := time.After(5 * time.Minute); len(want) > 0; {
		select {
		case p := <-reports:
			say, ok := want[filepath.Base(p.Path)]
			if !ok || !strings.Contains(p.Error(), say) || p.Hint == "" {
				t.Errorf("reported: %v (%s)", p, p.Hint)
			}
			delete(want, filepath.Base(p.Path))
		case <-end:
			t.Fatalf("not reported: %v", want)
		}
	}
	aside, err := s.Quarantined(ctx)
	if err != nil || len(aside) != 3 {
		t.Errorf("set aside: %v %v", aside, err)
	}
	for _, p := range aside {
		if data, err := os.ReadFile(p); err != nil || len(data) == 0 {
			t.Errorf("%s: %d bytes, %v", p, len(data), err)
		}
	}
	l, problems, err := state.All(ctx, s)
	if err != nil || len(problems) > 0 || len(l) != 3 { // words can be read as a file
		t.Errorf("%d tasks, %v, %v", len(l), problems, err)
	}
	better := false
	for _, e := range l {
		better = better || e.Task.Description == "better"
	}
	if !better {
		t.Error("the good edit is not to be seen")
	}
}

// TestClockPutBack: what was written before the clock was put back is dated in the future, and is no less broken.
func TestClockPutBack(t *testing.T) {
	s := open(t, t.TempDir())
	e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	path := s.path(queueDir + "/" + name{due: day0.Format(stamp), id: e.Task.ID}.queue())
	future := time.Now().Add(1000 * time.Hour)
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, future, future)); err != nil {
		t.Fatal(err)
	}
	if moved, err := s.Quarantine(ctx, untouched); err != nil || len(moved) != 1 {
		t.Errorf("%v %v", moved, err)
	}
	// Neither is an ID given twice, nor an instant claimed twice, whatever the clock says.
	a := must[state.Entry](t)(s.Add(ctx, daily("a"), day0))
	r := must[state.Record](t)(s.Claim(ctx, a.Task.ID, day0, day1, state.Ident{}, day0))
	if err := s.End(ctx, r, state.Line{At: day0, Outcome: state.OK}); err != nil {
		t.Fatal(err)
	}
	past := day0.Add(-1000 * time.Hour)
	b := must[state.Entry](t)(s.Add(ctx, once("b"), past))
	if b.Task.ID == a.Task.ID || b.Task.ID == e.Task.ID {
		t.Error("an ID came twice")
	}
	if _, err := s.Claim(ctx, a.Task.ID, day0, day1, state.Ident{}, past); !errors.Is(err, state.ErrTaken) {
		t.Errorf("%v, want ErrTaken", err)
	}
}

// TestUnknownKeysStay: what this version does not know is kept when a task is changed.
func TestUnknownKeysStay(t *testing.T) {
	s := open(t, t.TempDir())
	e := must[state.Entry](t)(s.Add(ctx, daily("n"), day0))
	path := s.path(queueDir + "/" + name{due: day0.Format(stamp), id: e.Task.ID}.queue())
	text := string(must[[]byte](t)(os.ReadFile(path)))
	text = strings.Replace(text, "[when]", "colour = \"red\"\n[[later]]\nx = 1\n[[later]]\nx = 2\n[mood]\n[mood.deep]\nlevel = 2.5\n[when]\nspirit = [1, 2]", 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	task := must[[]state.Entry](t)(s.Find(ctx, e.Task.ID))[0].Task
	task.Description = "changed"
	due := day0
	for n := range 3 { // in place, to another instant, and while paused
		if n == 1 {
			due = day1
		}
		if n == 2 {
			must[state.Entry](t)(s.Pause(ctx, task.ID, time.Time{}, day0))
		}
		changed, err := s.Update(ctx, task, due, day0, nil)
		if err != nil {
			t.Fatal(err)
		}
		task = changed.Task
		keys := keysFound(t, s)
		for _, got := range keys {
			if want := "colour later mood.deep.level when.spirit"; strings.Join(got, " ") != want {
				t.Errorf("after change %d: %v, want %s", n, got, want)
			}
		}
		if len(keys) != 1 {
			t.Errorf("after change %d: %v", n, keys)
		}
	}
}

// TestEditsWithoutRoom: at whichever step the disk refuses one file's move, that file alone stays, and what is reported is what happened.
func TestEditsWithoutRoom(t *testing.T) {
	for at := 1; ; at++ {
		dir := t.TempDir()
		s := lazy(t, dir, nil)
		d := &faultDisk{disk: lazyDisk{}, at: at, err: syscall.ENOSPC}
		w := &edits{Store: lazy(t, dir, d), ctx: ctx}
		reported := 0
		w.report = func(p state.Problem) {
			if strings.Contains(p.Hint, "set aside") {
				reported++
			}
		}
		names := map[string]bool{}
		for _, text := range []string{"one", "other"} {
			path := s.PathOf(must[state.Entry](t)(s.Add(ctx, once(text), day0)))
			if err := os.WriteFile(path, []byte("broken"), 0o600); err != nil {
				t.Fatal(err)
			}
			aged(t, path)
			names[filepath.Base(path)] = true
		}
		w.lookAt(names)
		lines := 0
		_, _, err := s.Log(ctx, "", func(l state.Line) bool {
			if l.Event == state.EventQuarantined {
				lines++
			}
			return true
		})
		moved := len(must[[]string](t)(s.allQuarantined()))
		if err != nil || lines != moved || reported != moved || !d.hit && moved != 2 || moved == 0 {
			t.Errorf("step %d, a %s: %d moved, %d logged, %d reported, %v", at, d.kind, moved, lines, reported, err)
		}
		if !d.hit {
			return
		}
	}
}
