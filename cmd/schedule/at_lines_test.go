package schedule

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// TestLongLine reads a line of 100 MB in memory that does not grow with it, and the line after it.
func TestLongLine(t *testing.T) {
	long := io.LimitReader(repeated('x'), 100<<20)
	r := newLineReader(io.MultiReader(strings.NewReader("before\n"), long, strings.NewReader("\r\nafter\n")), maxLine)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i, want := range []struct {
		text string
		err  error
	}{{"before", nil}, {"", errLong}, {"after", nil}, {"", io.EOF}, {"", io.EOF}} {
		text, err := r.Next()
		if text != want.text || !errors.Is(err, want.err) {
			t.Errorf("line %d: %.20q, %v", i+1, text, err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 10<<20 {
		t.Errorf("it took %d bytes of memory", got)
	}
	if r.Number != 3 {
		t.Errorf("%d lines were counted", r.Number)
	}
}

// repeated is a stream of one byte.
type repeated byte

func (b repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

// TestBrokenStream leaves out the line in which a stream breaks off.
func TestBrokenStream(t *testing.T) {
	broken := errors.New("broken")
	r := newLineReader(io.MultiReader(strings.NewReader("whole\ncut o"), iotest.ErrReader(broken)), maxLine)
	if text, err := r.Next(); text != "whole" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := r.Next(); text != "" || !errors.Is(err, broken) {
		t.Errorf("%q, %v", text, err)
	}
}

// FuzzLines reads the same lines however the stream is cut up, and the same as cutting it at every LF.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nc"), 3)
	f.Add([]byte("\xef\xbb\xbfone\r\r\ntoo long\nx\r"), 5)
	f.Fuzz(func(t *testing.T, data []byte, most int) {
		if most < 0 || most > 1<<16 {
			return
		}
		var want []string
		for i, line := range bytes.SplitAfter(data, []byte("\n")) {
			if len(line) == 0 {
				continue
			}
			if i == 0 && len(line) <= most+2 {
				line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			}
			text := strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
			if len(line) > most+2 || len(text) > most {
				text = "too long"
			}
			want = append(want, text)
		}
		for name, r := range map[string]io.Reader{"whole": bytes.NewReader(data), "bytes": iotest.OneByteReader(bytes.NewReader(data)), "halves": iotest.HalfReader(bytes.NewReader(data))} {
			lines := newLineReader(r, most)
			var got []string
			for {
				text, err := lines.Next()
				if err == io.EOF {
					break
				}
				if errors.Is(err, errLong) {
					text, err = "too long", nil
				}
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, text)
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) != len(want) || lines.Number != len(want) {
				t.Fatalf("%s: %q of at most %d\n got %q\nwant %q", name, data, most, got, want)
			}
		}
	})
}
