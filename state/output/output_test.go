package output

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state"
)

// numbered is n short lines: "line 0" and so on.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestTrim(t *testing.T) {
	lines := numbered(5000)
	tests := []struct {
		name, text  string
		head, tail  int64
		truncated   bool
		first, last string // what must still be there, at the ends
	}{
		{"empty", "", 64, 64, false, "", ""},
		{"fits", "short\n", 64, 64, false, "short\n", "short\n"},
		{"fits exactly", strings.Repeat("x", 128), 64, 64, false, "xxx", "xxx"},
		{"lines", lines, 1000, 2000, true, "line 0\nline 1\n", "line 4998\nline 4999\n"},
		{"more head than tail", lines, 2000, 1000, true, "line 0\nline 1\n", "line 4998\nline 4999\n"},
		{"no head", lines, 0, 1000, true, "\n[... ", "line 4999\n"},
		{"no tail", lines, 1000, 0, true, "line 0\n", "left out ...]\n"},
		{"one long line", strings.Repeat("x", 5000), 500, 500, true, "xxxx", "xxxx"},
		{"one line of long characters", strings.Repeat("€", 5000), 500, 501, true, "€€", "€€"},
		{"no text at all", strings.Repeat("\xff\x80\x00", 5000), 500, 500, true, "\xff\x80", "\x80\x00"},
		{"no line feed at the end", lines + "rest", 500, 500, true, "line 0\n", "line 4999\nrest"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := File(path).Trim(t.Context(), tt.head, tt.tail)
			want := state.Output{Bytes: int64(len(tt.text)), Truncated: tt.truncated}
			if err != nil || got != want {
				t.Fatalf("got %+v, %v; want %+v", got, err, want)
			}
			left := readFile(t, path)
			if !strings.HasPrefix(left, tt.first) || !strings.HasSuffix(left, tt.last) {
				t.Errorf("left is\n%s", left)
			}
			if int64(len(left)) > tt.head+tt.tail {
				t.Errorf("%d bytes are left, want at most %d", len(left), tt.head+tt.tail)
			}
			if utf8.ValidString(tt.text) && !utf8.ValidString(left) {
				t.Error("a character was cut")
			}
			if strings.Contains(left, "left out ...]") != tt.truncated {
				t.Errorf("the line that says so does not agree with truncated %v:\n%s", tt.truncated, left)
			}
			if tt.truncated {
				checkMarker(t, left, len(tt.text))
			}
			if mode := must(os.Stat(path)).Mode().Perm(); mode != 0o600 {
				t.Errorf("the mode became %v", mode)
			}
			if n := len(must(os.ReadDir(filepath.Dir(path)))); n != 1 {
				t.Errorf("%d files are in the folder, want 1", n)
			}
			again, err := File(path).Trim(t.Context(), tt.head, tt.tail)
			if err != nil || again.Truncated || readFile(t, path) != left {
				t.Errorf("trimming again changed the file: %+v, %v", again, err)
			}
		})
	}
}

// checkMarker compares what the line says with what is there.
func checkMarker(t *testing.T, left string, size int) {
	t.Helper()
	_, line, _ := strings.Cut(left, "\n[... ")
	line, _, _ = strings.Cut(line, "\n")
	var out, all int
	if _, err := fmt.Sscanf(line, "%d of %d bytes left out ...]", &out, &all); err != nil {
		t.Fatalf("no numbers in %q", line)
	}
	kept := len(left) - len("\n[... \n") - len(line)
	if all != size || out+kept != size {
		t.Errorf("%d of %d left out and %d kept, of %d", out, all, kept, size)
	}
}

func TestTrimRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	if _, err := File(path).Trim(t.Context(), 1000, 1000); !os.IsNotExist(err) {
		t.Errorf("no file: got %v", err)
	}
	if err := os.WriteFile(path, []byte(numbered(100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, limits := range [][2]int64{{10, 10}, {-1, 1000}, {1000, -1}} {
		if _, err := File(path).Trim(t.Context(), limits[0], limits[1]); err == nil {
			t.Errorf("%v was accepted", limits)
		}
	}
	if readFile(t, path) != numbered(100) {
		t.Error("the file was changed")
	}
}

// TestTrimKeepsTheOldFileWhenItFails: a folder in the way of the temporary file.
func TestTrimKeepsTheOldFileWhenItFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte(numbered(1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(path+".trim/x", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := File(path).Trim(t.Context(), 500, 500); err == nil {
		t.Error("no error")
	}
	if readFile(t, path) != numbered(1000) {
		t.Error("the file was changed")
	}
}

func TestReadTail(t *testing.T) {
	lines := numbered(100)
	tests := []struct {
		name, text string
		max        int64
		want       string
		truncated  bool
	}{
		{"all", lines, 1 << 20, lines, false},
		{"exactly all", "abc", 3, "abc", false},
		{"whole lines", lines, 20, "line 98\nline 99\n", true},
		{"a long line is cut", strings.Repeat("x", 100) + "\nend", 50, strings.Repeat("x", 46) + "\nend", true},
		{"not inside a character", strings.Repeat("€", 10), 10, "€€€", true},
		{"nothing", lines, 0, "", true},
		{"empty", "", 10, "", false},
	}
	for _, tt := range tests {
		path := filepath.Join(t.TempDir(), "out")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		text, truncated, err := Tail(t.Context(), File(path), tt.max)
		if err != nil || string(text) != tt.want || truncated != tt.truncated {
			t.Errorf("%s: got %q, %v, %v; want %q, %v", tt.name, text, truncated, err, tt.want, tt.truncated)
		}
	}
	if _, _, err := Tail(t.Context(), File(filepath.Join(t.TempDir(), "none")), 10); !os.IsNotExist(err) {
		t.Errorf("no file: got %v", err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// must is for what cannot go wrong in a test.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
