package plain

import "testing"

func TestPlainLetsNoControlCharacterThrough(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"plain", "call Bob", "call Bob"},
		{"lines stay", "one\ntwo", "one\ntwo"},
		{"a title is not set", "\x1b]0;pwned\a", `\x1b]0;pwned\x07`},
		{"C1", "a\u009bb", `a\x9bb`},
		{"direction marks", "a\u202eb", `a\u202eb`},
		{"invalid UTF-8", "a\xffb", `a\xffb`},
		{"tab", "a\tb", "a b"},
	} {
		if got := Lines(row.text); got != row.want {
			t.Errorf("%s: Plain(%q) = %q, want %q", row.name, row.text, got, row.want)
		}
	}
}

func TestLineIsOneLine(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"call Bob", "call Bob"},
		{"two\nlines and a\ttab", `two\nlines and a\ttab`},
		{"\x1b[31mred", `\x1b[31mred`},
		{"a\u202eb", `a\u202eb`},
		{"a\xffb \uFFFD", "a\\xffb \uFFFD"},
		{"żółw 🐢", "żółw 🐢"},
	} {
		if got := Line(row.text); got != row.want {
			t.Errorf("Line(%q) = %q, want %q", row.text, got, row.want)
		}
	}
}

func TestListIsForASentence(t *testing.T) {
	for _, row := range []struct {
		words []string
		want  string
	}{{nil, ""}, {[]string{"a"}, "a"}, {[]string{"a", "b"}, "a or b"}, {[]string{"a", "b", "c"}, "a, b or c"}} {
		if got := List(row.words, "or"); got != row.want {
			t.Errorf("List(%q) = %q, want %q", row.words, got, row.want)
		}
	}
}

func TestCutIsAsLongAsItMayBe(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"", ""},
		{"żółw", "żółw"},
		{"żółwie", "żół…"},
		{"call Bob", "cal…"},
	} {
		if got := Cut(row.text, 4); got != row.want {
			t.Errorf("Cut(%q, 4) = %q, want %q", row.text, got, row.want)
		}
	}
}
