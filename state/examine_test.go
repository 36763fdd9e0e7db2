package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// TestExamine: each check tells what it finds, one by one up to a bound and then as one, or what is
// fine; and what is mended is before the check goes on.
func TestExamine(t *testing.T) {
	broken := 30
	mend := func(context.Context) (string, error) { broken--; return "mended", nil }
	checks := []Inspection{
		{"many", func(_ context.Context, tell func(Finding)) string {
			for range 30 {
				tell(Finding{Level: Odd, Reason: "x", Text: "x", Mend: mend})
			}
			return "nothing is broken"
		}},
		{"few", func(_ context.Context, tell func(Finding)) string {
			was := broken
			tell(Finding{Level: Wrong, Reason: "y", Text: "y", Mend: func(context.Context) (string, error) { broken = 7; return "", errors.New("it is not ours") }})
			if was == broken {
				t.Error("what was told is mended only afterwards")
			}
			return ""
		}},
		{"none", func(context.Context, func(Finding)) string { return "all is well" }},
		{"silent", func(context.Context, func(Finding)) string { return "" }},
	}
	var got []string
	Examine(t.Context(), checks, true, func(f Finding) {
		got = append(got, fmt.Sprint(f.Check, " ", f.Level, " ", f.Text, " ", f.Done, " ", f.Left, " ", f.Open()))
	})
	want := slices.Repeat([]string{"many warn x mended <nil> false"}, FindingsMost)
	want = append(want, "many warn 10 more like these mended 10 <nil> false", "few bad y  it is not ours true", "none ok all is well  <nil> false")
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if broken != 7 {
		t.Errorf("%d are broken", broken)
	}
	n := 0
	Examine(t.Context(), checks[:1], false, func(f Finding) {
		if n++; f.Done != "" || f.Mend == nil {
			t.Errorf("%+v", f)
		}
	})
	if n != FindingsMost+1 {
		t.Errorf("%d were told", n)
	}
}

// TestMendTogether: of many findings that are told as one, those that nothing can be done about
// keep it open.
func TestMendTogether(t *testing.T) {
	why := errors.New("somebody is at it")
	mends := func(err error) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return "x", err }
	}
	all := together([]Finding{{Level: Odd, Mend: mends(nil)}, {Level: Wrong, Mend: mends(why)}, {Level: Odd}})
	if all.Level != Wrong {
		t.Errorf("%+v", all)
	}
	if done, err := all.Mend(t.Context()); done != "" || !errors.Is(err, why) || err.Error() != "1 were mended, 2 were not: somebody is at it" {
		t.Errorf("%q %v", done, err)
	}
	if together([]Finding{{Level: Odd}, {Level: Odd}}).Mend != nil {
		t.Error("nothing can be mended")
	}
}
