package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state/files"
	"github.com/ouro-timer/ouro-timer/state/guard"
)

// TestFar: those who schedule and run are warned of a network file system, others are not, and
// nobody of what is not known.
func TestFar(t *testing.T) {
	for _, c := range []struct {
		cmd    string
		volume guard.Volume
		err    error
		warns  bool
	}{
		{"at", guard.Volume{Kind: "nfs", Network: true}, nil, true},
		{"run", guard.Volume{Kind: "fuse.sshfs", Network: true}, nil, true},
		{"ls", guard.Volume{Kind: "nfs", Network: true}, nil, false},
		{"at", guard.Volume{Kind: "ext4"}, nil, false},
		{"at", guard.Volume{Network: true}, errors.New("no such call"), false},
	} {
		st, err := files.Open(t.TempDir(), files.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		s := NewCall(World{Err: &said})
		s.Cmd, s.Store = &Command{Name: c.cmd}, st
		looked := 0
		warnNetworkVolume(s, st.Dir(), func() (guard.Volume, error) { looked++; return c.volume, c.err })
		if got := strings.Contains(said.String(), "network file system ("+c.volume.Kind+")"); got != c.warns || looked > 1 {
			t.Errorf("%+v: after %d looks %q", c, looked, said.String())
		}
	}

	// In JSON it is for the answer.
	st, err := files.Open(t.TempDir(), files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	s := NewCall(World{Err: &said})
	s.Cmd, s.Store, s.InJSON = &Command{Name: "at"}, st, true
	warnNetworkVolume(s, st.Dir(), func() (guard.Volume, error) { return guard.Volume{Kind: "nfs", Network: true}, nil })
	if texts := s.WarningTexts(s.NetworkWarnings); said.Len() > 0 || len(texts) != 1 || !strings.HasPrefix(texts[0], st.Dir()+" is on a network file system (nfs)") {
		t.Errorf("said %q, and left %q for the answer", said.String(), texts)
	}
}
