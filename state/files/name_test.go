package files

import (
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

func FuzzParseName(f *testing.F) {
	f.Add("20261123T080000.000000000Z.k7m2.toml")
	f.Add("20261123T080000,000000000Z.cczu.toml")
	f.Add(name{due: day0.Format(stamp), id: state.ID(0)}.queue())
	f.Add(name{due: day0.Format(stamp), id: state.ID(40000)}.record())
	f.Add("00010101T000000.000000000Z." + state.ID(1) + ".toml")
	f.Fuzz(func(t *testing.T, file string) {
		if n, ok := parseName(file); ok {
			if n.queue() != file {
				t.Errorf("%q is read as %q", file, n.queue())
			}
			if again, err := nameOf(n.id, n.time()); err != nil || again != n {
				t.Errorf("%q is written as %v, %v", file, again, err)
			}
		}
		if n, ok := parseRecordName(file); ok && n.record() != file {
			t.Errorf("%q is read as %q", file, n.record())
		}
	})
}
