package files

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestRemovedFolders: what was committed is applied although somebody has removed the folder that it is for, or has put a folder in the
// place of a file; the state can be used all the same.
func TestRemovedFolders(t *testing.T) {
	for name, spoil := range map[string]func(s *Store) error{
		"keys":    func(s *Store) error { return os.RemoveAll(s.path(keysDir)) },
		"removed": func(s *Store) error { return os.RemoveAll(s.path(removedDir)) },
		"a folder for a file": func(s *Store) error {
			return errors.Join(os.Remove(s.path(keyPlace(key))), os.Mkdir(s.path(keyPlace(key)), 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := lazy(t, dir, nil)
			must[state.Entry](t)(s.Add(ctx, keyed(once("kept"), key), day0))
			gone := must[state.Entry](t)(s.Add(ctx, once("gone"), day0)).Task.ID
			must[state.Entry](t)(s.Remove(ctx, gone, day0))
			if err := spoil(s); err != nil {
				t.Fatal(err)
			}
			s = rebooted(t, dir)
			list, _, err := state.All(ctx, s, state.Pending)
			if err != nil || len(list) != 1 || list[0].Task.Description != "kept" {
				t.Fatalf("%v, %v", list, err)
			}
			must[state.Entry](t)(s.Add(ctx, once("more"), day0))
		})
	}
}

// TestRefusedBesideOneThatFailed: what is refused because of another one of its batch is not, when that one could not be made.
func TestRefusedBesideOneThatFailed(t *testing.T) {
	drafts := []state.Draft{{Task: keyed(once("one"), key), Due: day0}, {Task: keyed(once("two"), key), Due: day0}}
	for at := 1; ; at++ {
		d := &faultDisk{disk: lazyDisk{}, at: at, err: syscall.ENOSPC}
		s := lazy(t, t.TempDir(), d)
		answers := s.AddAll(ctx, drafts)
		if !d.hit {
			break
		}
		for _, a := range answers {
			if !errors.Is(a.Err, state.ErrKept) {
				continue
			}
			if found, err := s.Find(ctx, a.Entry.Task.ID); err != nil || len(found) != 1 {
				t.Errorf("step %d, a %s: %q has the key, and is not there: %v", at, d.kind, a.Entry.Task.ID, err)
			}
		}
	}
}

// TestAnsweredOnce: each change of a call gets one answer, whatever the disk does.
func TestAnsweredOnce(t *testing.T) {
	drafts := []state.Draft{{Task: keyed(once("one"), key), Due: day0}, {Task: keyed(once("two"), key), Due: day0}, {Task: once("three"), Due: day0}}
	for at := 1; ; at++ {
		d := &faultDisk{disk: lazyDisk{}, at: at, err: syscall.ENOSPC}
		answers := make([]int, len(drafts))
		lazy(t, t.TempDir(), d).Transactions(ctx, len(drafts), func(tx state.Transaction, i int) error {
			_, err := state.AddIn(tx, drafts[i])
			return err
		}, func(i int, _ error) { answers[i]++ })
		if !slices.Equal(answers, []int{1, 1, 1}) {
			t.Errorf("step %d, a %s: %v answers", at, d.kind, answers)
		}
		if !d.hit {
			break
		}
	}
}

// TestLedgerOfOthers: lines that others have written into the ledger, or taken out of it, leave the later ones whole, also when those have to
// be written again after a loss of power.
func TestLedgerOfOthers(t *testing.T) {
	for name, spoil := range map[string]func(text []byte) []byte{
		"a line more": func(text []byte) []byte { return append(text, []byte(`{"type":"task","event":"foreign"}`+"\n")...) },
		"a line less": func(text []byte) []byte { _, rest, _ := bytes.Cut(text, []byte("\n")); return rest },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := lazy(t, dir, nil)
			must[state.Entry](t)(s.Add(ctx, once("one"), day0))
			must[state.Entry](t)(s.Add(ctx, once("two"), day0))
			text := must[[]byte](t)(os.ReadFile(s.path(ledgerFile)))
			if err := os.WriteFile(s.path(ledgerFile), spoil(text), 0o600); err != nil {
				t.Fatal(err)
			}
			must[state.Entry](t)(s.Add(ctx, once("three"), day0))
			want := must[[]byte](t)(os.ReadFile(s.path(ledgerFile)))
			settle(t, rebooted(t, dir))
			if got := must[[]byte](t)(os.ReadFile(s.path(ledgerFile))); !bytes.Equal(got, want) {
				t.Errorf("%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestPruneBesideAForeignFolder: what somebody has put into the folder of an output keeps nothing else from being forgotten.
func TestPruneBesideAForeignFolder(t *testing.T) {
	s := graveyard(t, 3)
	list, _, err := state.All(ctx, s, state.Ended)
	if err != nil || len(list) != 3 {
		t.Fatalf("%d, %v", len(list), err)
	}
	for _, e := range list[:1] {
		if err := os.MkdirAll(s.path(outputDir+"/"+e.Task.ID+"/own"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if _, err := s.Prune(ctx, state.Keep{Ended: time.Hour}, day0.Add(1000*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if list, _, err := state.All(ctx, s); err != nil || len(list) > 0 {
		t.Errorf("%d are left, %v", len(list), err)
	}
}
