package cli

import (
	"strings"
	"testing"
)

// rows is what a terminal shows that begins a new row when one is full.
func rows(text string, width int) (list []string) {
	for line := range strings.Lines(text) {
		runes := []rune(strings.TrimSuffix(line, "\n"))
		for len(runes) > width {
			list = append(list, strings.TrimRight(string(runes[:width]), " "))
			runes = runes[width:]
		}
		list = append(list, string(runes))
	}
	return list
}

func TestFold(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string // the rows, with bars between
	}{
		{"it fits", 10, "it fits"},
		{"the words of a line", 10, "the words|of a line"},
		{"ten column and more", 10, "ten column| and more"},
		{"one two three", 5, "one|two|three"},
		{"a verylongwordindeed b", 8, "a verylo|ngwordin|deed b"},
		{"first line\nsecond line of two", 10, "first line|second|line of|two"},
		{"a\ttab stays as it is, however long", 60, "a\ttab stays as it is, however long"},
		{"  indented words go on", 12, "  indented|words go on"},
		{"", 10, ""},
	} {
		got := Fold(c.text, c.width)
		if shown := strings.Join(rows(got, c.width), "|"); shown != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.width, shown, c.want)
		}
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(c.text), " ") {
			t.Errorf("%q: the words are %q", c.text, got)
		}
	}
}

// TestFoldKeepsColour: what paints takes no columns.
func TestFoldKeepsColour(t *testing.T) {
	if got, want := Fold(Paint(true).As(Bad, "ouro-timer:")+" it fits", 20), "\x1b[31mouro-timer:\x1b[m it fits"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzFold(f *testing.F) {
	f.Add("the words of a line", 10)
	f.Add("ten column and more", 10)
	f.Fuzz(func(t *testing.T, text string, width int) {
		if width < 1 || width > 300 || strings.ContainsAny(text, "\x1b\t") {
			t.Skip()
		}
		if got := Fold(text, width); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(text), " ") {
			t.Errorf("%q in %d columns: %q", text, width, got)
		}
	})
}
