package files

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestHandEditsWin: what a person has written into files by hand, or named otherwise, since the disk was last made to take all changes, stays when
// the machine is started anew and all changes since then are looked at again, and is said. What only undoes a change of this program, such as
// a file that is deleted or put back to where it was, looks as if the power had taken that change: it stays once the disk has it.
func TestHandEditsWin(t *testing.T) {
	mv := func(from, to string) error { return os.Rename(from, to) }
	write := func(path, data string) error { return os.WriteFile(path, []byte(data), 0o600) }
	edited := func(path, from, to string) error {
		data, err := os.ReadFile(path)
		text := strings.Replace(string(data), from, to, 1)
		if err == nil && text == string(data) {
			err = errors.New("nothing was edited")
		}
		return errors.Join(err, write(path, text))
	}
	queued := func(s *Store, id string, due time.Time) string {
		n, _ := nameOf(id, due)
		return s.path(queueDir + "/" + n.queue())
	}
	for _, c := range []struct {
		name string
		do   func(s *Store, e state.Entry) error // what this program and the person do
		said string                              // at the next start of the machine; empty: nothing is
	}{
		{"edited", func(s *Store, e state.Entry) error { return edited(s.PathOf(e), `"n"`, `"by hand"`) }, "changed by hand"},
		{"edited by an editor that renames", func(s *Store, e state.Entry) error {
			return errors.Join(mv(s.PathOf(e), s.path("backup")), edited(s.path("backup"), `"n"`, `"by hand"`), mv(s.path("backup"), s.PathOf(e)))
		}, "changed by hand"},
		{"edited after a change", func(s *Store, e state.Entry) error {
			e.Task.Description = "changed"
			e, err := s.Update(ctx, e.Task, time.Time{}, day0, nil)
			return errors.Join(err, edited(s.PathOf(e), `"changed"`, `"by hand"`))
		}, "changed by hand"},
		{"edited, and then moved on", func(s *Store, e state.Entry) error {
			return errors.Join(edited(s.PathOf(e), `"n"`, `"by hand"`), s.Move(ctx, e.Task.ID, day0, day1, day0))
		}, ""},
		{"edited, then changed", func(s *Store, e state.Entry) error {
			if err := edited(s.PathOf(e), `"n"`, `"by hand"`); err != nil {
				return err
			}
			e.Task.Text = "more"
			_, err := s.Update(ctx, e.Task, time.Time{}, day0, nil)
			return err
		}, ""},
		{"moved on, and then edited", func(s *Store, e state.Entry) error {
			return errors.Join(s.Move(ctx, e.Task.ID, day0, day1, day0), edited(queued(s, e.Task.ID, day1), `"n"`, `"by hand"`))
		}, "changed by hand"},
		{"renamed to another instant", func(s *Store, e state.Entry) error { return mv(s.PathOf(e), queued(s, e.Task.ID, day2)) }, "renamed by hand"},
		{"renamed and edited", func(s *Store, e state.Entry) error {
			return errors.Join(mv(s.PathOf(e), queued(s, e.Task.ID, day2)), edited(queued(s, e.Task.ID, day2), `"n"`, `"by hand"`))
		}, "renamed by hand"},
		{"moved on, and then renamed", func(s *Store, e state.Entry) error {
			return errors.Join(s.Move(ctx, e.Task.ID, day0, day1, day0), mv(queued(s, e.Task.ID, day1), queued(s, e.Task.ID, day2)))
		}, "renamed by hand"},
		{"renamed, and then moved on", func(s *Store, e state.Entry) error {
			return errors.Join(mv(s.PathOf(e), queued(s, e.Task.ID, day1)), s.Move(ctx, e.Task.ID, day1, day2, day0))
		}, ""},
		{"paused, and put back into the queue", func(s *Store, e state.Entry) error {
			at := s.PathOf(e)
			e, err := s.Pause(ctx, e.Task.ID, time.Time{}, day0)
			return errors.Join(err, s.Sync(ctx), mv(s.PathOf(e), at))
		}, ""},
		{"put among the paused", func(s *Store, e state.Entry) error {
			return mv(s.PathOf(e), strings.Replace(s.PathOf(e), queueDir+"/", pausedDir+"/", 1))
		}, "renamed by hand"},
		{"removed, and put back into the queue", func(s *Store, e state.Entry) error {
			_, err := s.Remove(ctx, e.Task.ID, day0)
			return errors.Join(err, s.Sync(ctx), mv(s.path(removedDir+"/"+name{day0.Format(stamp), e.Task.ID, day0.Format(stamp)}.file()), s.PathOf(e)))
		}, ""},
		{"removed, put back and edited", func(s *Store, e state.Entry) error {
			_, err := s.Remove(ctx, e.Task.ID, day0)
			return errors.Join(err, mv(s.path(removedDir+"/"+name{day0.Format(stamp), e.Task.ID, day0.Format(stamp)}.file()), s.PathOf(e)),
				edited(s.PathOf(e), `"n"`, `"by hand"`))
		}, "by hand"},
		{"moved on, and deleted", func(s *Store, e state.Entry) error {
			return errors.Join(s.Move(ctx, e.Task.ID, day0, day1, day0), s.Sync(ctx), s.Move(ctx, e.Task.ID, day1, day2, day0), os.Remove(queued(s, e.Task.ID, day2)))
		}, ""},
		{"set aside, mended and moved back", func(s *Store, e state.Entry) error {
			data, _ := os.ReadFile(s.PathOf(e))
			if err := write(s.PathOf(e), string(data[:len(data)/2])); err != nil {
				return err
			}
			aside, err := s.Quarantine(ctx, 0)
			if err != nil || len(aside) != 1 {
				return errors.Join(err, errors.New("it was not set aside"))
			}
			return errors.Join(write(aside[0].Path, string(data)), mv(aside[0].Path, s.PathOf(e)))
		}, "by hand"},
		{"set aside, mended in another way and moved back", func(s *Store, e state.Entry) error {
			data, _ := os.ReadFile(s.PathOf(e))
			if err := write(s.PathOf(e), string(data[:len(data)/2])); err != nil {
				return err
			}
			aside, err := s.Quarantine(ctx, 0)
			if err != nil || len(aside) != 1 {
				return errors.Join(err, errors.New("it was not set aside"))
			}
			return errors.Join(write(aside[0].Path, strings.Replace(string(data), `"n"`, `"by hand"`, 1)), mv(aside[0].Path, s.PathOf(e)))
		}, "by hand"},
		{"set aside, and deleted", func(s *Store, e state.Entry) error {
			if err := write(s.PathOf(e), "junk"); err != nil {
				return err
			}
			aside, err := s.Quarantine(ctx, 0)
			if err != nil || len(aside) != 1 {
				return errors.Join(err, errors.New("it was not set aside"))
			}
			return os.Remove(aside[0].Path)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := scratch(t)
			s := lazy(t, dir, nil)
			e := must[state.Entry](t)(s.Add(ctx, keyed(daily("n"), key), day0))
			must[state.Entry](t)(s.Add(ctx, once("beside"), day0))
			if err := c.do(s, e); err != nil {
				t.Fatal(err)
			}
			want := dump(t, s)
			var said []state.Problem
			s = told(t, dir, "another", &said)
			if got := dump(t, s); got != want {
				t.Errorf("after a start of the machine\n%s\nbefore\n%s", got, want)
			}
			if len(said) > 1 || (len(said) == 1) != (c.said != "") || len(said) == 1 && (!strings.Contains(said[0].Error(), c.said) || said[0].Hint == "") {
				t.Errorf("said %v, want %q", said, c.said)
			}
			if list, _ := records(t, s); len(list) > 0 {
				t.Errorf("%d records are left", len(list))
			}
			keysHold(t, s)
			clean(t, s)
		})
	}
}

// TestDeletedByHand: a task's file that was deleted by hand stays deleted once the disk has taken all changes.
func TestDeletedByHand(t *testing.T) {
	dir := scratch(t)
	s := lazy(t, dir, nil)
	e := must[state.Entry](t)(s.Add(ctx, keyed(daily("n"), key), day0))
	if err := errors.Join(s.Sync(ctx), os.Remove(s.PathOf(e))); err != nil {
		t.Fatal(err)
	}
	s = rebooted(t, dir)
	if list, _, err := state.All(ctx, s); err != nil || len(list) != 0 {
		t.Errorf("it is back: %v %v", list, err)
	}
	if again, err := s.Add(ctx, keyed(daily("n"), key), day0); err != nil || again.Task.ID == e.Task.ID {
		t.Errorf("added again: %+v %v", again, err)
	}
}

// TestMendedFileStays: a file that was set aside, and was mended and moved back, is not set aside again at the next start of the machine; one that
// was moved back and not mended is.
func TestMendedFileStays(t *testing.T) {
	for _, mended := range []bool{false, true} {
		s := lazy(t, scratch(t), nil)
		e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
		queued := s.PathOf(e)
		good := must[[]byte](t)(os.ReadFile(queued))
		if err := os.WriteFile(queued, good[:len(good)/2], 0o600); err != nil {
			t.Fatal(err)
		}
		moved := must[[]state.Problem](t)(s.Quarantine(ctx, 0))
		if len(moved) != 1 {
			t.Fatal(moved)
		}
		data := good[:len(good)/2]
		if mended {
			data = good
		}
		if err := errors.Join(os.WriteFile(moved[0].Path, data, 0o600), os.Rename(moved[0].Path, queued)); err != nil {
			t.Fatal(err)
		}
		settle(t, rebooted(t, s.Dir()))
		if _, err := os.Lstat(queued); (err == nil) != mended {
			t.Errorf("mended %v, and in the queue: %v", mended, err)
		}
	}
}
