package files

import (
	"maps"
	"testing"
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
	list, err := s.Spooled(ctx)
	if want := map[string]string{"k7m2-2": "{\"of\":\"k7m2-2\"}\n"}; err != nil || !maps.Equal(list, want) {
		t.Errorf("kept: %v, %v; want %v", list, err, want)
	}
}
