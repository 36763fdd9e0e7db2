package cli

import (
	"bytes"
	"os"
	"testing"
)

// TestColoured looks at every combination of what speaks for colour and against it.
func TestColoured(t *testing.T) {
	for _, noColor := range []string{"", "1", "0"} {
		for _, forced := range []string{"", "0", "1"} {
			for _, asked := range []string{"", "0", "1"} {
				for _, kind := range []string{"xterm-256color", "dumb"} {
					for _, terminal := range []bool{true, false} {
						want := terminal && asked != "0" && kind != "dumb"
						if forced == "1" {
							want = true
						}
						if noColor != "" {
							want = false
						}
						env := map[string]string{"NO_COLOR": noColor, "CLICOLOR_FORCE": forced, "CLICOLOR": asked, "TERM": kind}
						got := coloured(func(name string) string { return env[name] }, func() bool { return terminal })
						if got != want {
							t.Errorf("%v, terminal %v: %v", env, terminal, got)
						}
					}
				}
			}
		}
	}
}

// TestPaintOn gives colour to files of the system alone, and a text without it is the text.
func TestPaintOn(t *testing.T) {
	force := func(name string) string { return map[string]string{"CLICOLOR_FORCE": "1"}[name] }
	if PaintOn(&bytes.Buffer{}, force) {
		t.Error("an answer in memory has colour")
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if !PaintOn(null, force) || PaintOn(null, func(string) string { return "" }) {
		t.Error("a file that is not a terminal: colour is not as it was asked for")
	}
	if text := Paint(true).As(Bad, "failed"); text != "\x1b[31mfailed\x1b[m" {
		t.Errorf("%q", text)
	}
	if text := Paint(false).As(Bad, "failed") + Paint(true).As(Ordinary, " ") + Paint(true).As(Bad, ""); text != "failed " {
		t.Errorf("%q", text)
	}
}

// TestColumns counts letters as a terminal shows them.
func TestColumns(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		fit     string // in five columns
		pad     string // to five
	}{
		{"", 0, "", "     "},
		{"abc", 3, "abc", "abc  "},
		{"abcde", 5, "abcde", "abcde"},
		{"abcdef", 6, "abcd…", "abcdef"},
		{"Zażółć", 6, "Zażó…", "Zażółć"},
		{"漢字", 4, "漢字", "漢字 "},
		{"漢字漢", 6, "漢字…", "漢字漢"},
		{"👩‍👩‍👧", 2, "👩‍👩‍👧", "👩‍👩‍👧   "}, // one letter of five code points
		{"e\u0301a", 2, "e\u0301a", "e\u0301a   "},
		{"\x1b[31mbad\x1b[m", 3, "\x1b[31mbad\x1b[m", "\x1b[31mbad\x1b[m  "},
		{"\x1b[31mfailed\x1b[m", 6, "\x1b[31mfail…\x1b[m", "\x1b[31mfailed\x1b[m"},
	} {
		if n := Columns(c.text); n != c.columns {
			t.Errorf("%q takes %d columns, not %d", c.text, n, c.columns)
		}
		if text := Fit(c.text, 5); text != c.fit {
			t.Errorf("%q in five columns is %q, not %q", c.text, text, c.fit)
		}
		if text := Pad(c.text, 5); text != c.pad {
			t.Errorf("%q to five columns is %q, not %q", c.text, text, c.pad)
		}
	}
	if text := Fit("abc", 0); text != "" {
		t.Errorf("in no columns: %q", text)
	}
}
