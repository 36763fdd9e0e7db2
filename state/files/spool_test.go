package files

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestSpool: a text that is kept for others is there for the next process, until it is dropped.
func TestSpool(t *testing.T) {
	s, ctx := open(t, t.TempDir()), t.Context()
	for _, name := range []string{"k7m2-1", "k7m2-2"} {
		if err := s.Spool(ctx, name, "{\"of\":\""+name+"\"}\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Spool(ctx, "k7m2-1", ""); err != nil {
		t.Fatal(err)
	}
	if err := s.Spool(ctx, "k7m2-9", ""); err != nil {
		t.Errorf("dropping what is not there: %v", err)
	}
	list, err := spooledIn(t, s)
	if want := map[string]string{"k7m2-2": "{\"of\":\"k7m2-2\"}\n"}; err != nil || !maps.Equal(list, want) {
		t.Errorf("kept: %v, %v; want %v", list, err, want)
	}
}

// spooledIn is what a store keeps for others. "refused" is a text that nobody understands.
func spooledIn(t *testing.T, s *Store) (list map[string]string, err error) {
	list = map[string]string{}
	err = s.Spooled(t.Context(), func(name, text string) error {
		if text == "refused" {
			return errors.New("not understood")
		}
		list[name] = text
		return nil
	})
	return list, err
}

// TestDamagedSpool: a file that cannot be understood is set aside and reported, and doctor knows it; one that cannot be read is reported, and stays. The
// others are read.
func TestDamagedSpool(t *testing.T) {
	var reported []string
	s := must[*Store](t)(Open(t.TempDir(), Options{Report: func(p state.Problem) { reported = append(reported, p.Error()) }}))
	for name, text := range map[string]string{"a-1": "refused", "b-1": "good", "d-1": "good"} {
		if err := s.Spool(ctx, name, text); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string) string { return s.path(runsDir + "/" + spoolPrefix + name + suffix) }
	for name, text := range map[string]string{"c-1": "text = \"cut sho", "e-1": strings.Repeat("#", noteLimit+1)} {
		if err := os.WriteFile(file(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(file("f-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"b-1": "good", "d-1": "good"}
	list, err := spooledIn(t, s)
	if err != nil || !maps.Equal(list, want) {
		t.Errorf("kept: %v, %v; want %v", list, err, want)
	}
	slices.Sort(reported)
	for i, name := range []string{"a-1", "c-1", "e-1", "f-1"} {
		aside := s.path(corruptDir + "/" + spoolPrefix + name + suffix)
		if len(reported) <= i || !strings.Contains(reported[i], aside) || !strings.Contains(reported[i], "was set aside") {
			t.Fatalf("reported %q, want one of %s", reported, aside)
		}
		if _, err := os.Lstat(aside); err != nil {
			t.Error(err)
		}
		if !slices.ContainsFunc(findings(t, s.dir, nil), func(f state.Finding) bool { return f.Subject == aside && f.Reason == isQuarantined }) {
			t.Errorf("doctor does not know %s", aside)
		}
	}
	reported = nil
	if list, err := spooledIn(t, s); err != nil || !maps.Equal(list, want) || len(reported) > 0 {
		t.Errorf("the next time: %v, %v, reported %q", list, err, reported)
	}
	if err := os.WriteFile(file("a-1"), []byte("cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := spooledIn(t, s); err != nil || len(reported) != 1 || !strings.Contains(reported[0], spoolPrefix+"a-1"+suffix+".2: ") {
		t.Errorf("one of the same name: %v, reported %q", err, reported)
	}
}

// TestUnreadableSpool: a file that may not be read is reported, and stays for a runner that may.
func TestUnreadableSpool(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	var reported []string
	s := must[*Store](t)(Open(t.TempDir(), Options{Report: func(p state.Problem) { reported = append(reported, p.Error()) }}))
	if err := errors.Join(s.Spool(ctx, "a-1", "good"), s.Spool(ctx, "b-1", "good")); err != nil {
		t.Fatal(err)
	}
	file := s.path(runsDir + "/" + spoolPrefix + "a-1" + suffix)
	if err := os.Chmod(file, 0); err != nil {
		t.Fatal(err)
	}
	if list, err := spooledIn(t, s); err != nil || len(list) != 1 || len(reported) != 1 || !strings.Contains(reported[0], file) {
		t.Errorf("%v, %v, reported %q", list, err, reported)
	}
	if _, err := os.Lstat(file); err != nil {
		t.Error(err)
	}
}
