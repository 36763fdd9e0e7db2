package files

import (
	"slices"
	"strings"
	"testing"
	"time"

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

// TestEarliest holds the choice of a few against sorting all.
func TestEarliest(t *testing.T) {
	var due []found
	for i := range 500 {
		due = append(due, found{name{due: day0.Add(time.Duration(i*i%97) * time.Second).Format(stamp), id: state.ID(uint64(i))}, queueDir})
	}
	all := earliest(slices.Values(due), len(due), byWake)
	if !slices.IsSortedFunc(all, func(a, b found) int { return strings.Compare(a.queue(), b.queue()) }) {
		t.Error("not in order")
	}
	for _, n := range []int{0, 1, 2, 7, 31, 32, 130, 499, 900} {
		if got := earliest(slices.Values(due), n, byWake); !slices.Equal(got, all[:min(n, len(all))]) {
			t.Errorf("the first %d differ", n)
		}
	}
}
