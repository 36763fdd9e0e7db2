package ledger

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// TestBackwards holds reading from the end against splitting the whole, with lines around the size of a block.
func TestBackwards(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		var want []string
		var text strings.Builder
		for range rng.IntN(12) {
			size := []int{0, 1, 100, blockSize - 1, blockSize, blockSize + 1, 3*blockSize + 7}[rng.IntN(7)]
			line := strings.Repeat(string(rune('a'+rng.IntN(26))), size)
			want = append(want, line)
			text.WriteString(line + "\n")
		}
		torn := round%3 == 0
		if torn {
			want = append(want, "torn")
			text.WriteString("torn")
		}
		slices.Reverse(want)
		var got []string
		end := int64(text.Len())
		err := backwards(strings.NewReader(text.String()), end, func(line []byte, at int64, whole bool) bool {
			if at != end || whole == (torn && len(got) == 0) {
				t.Errorf("a line ends at %d, want %d; whole %v", at, end, whole)
			}
			got = append(got, string(line))
			end -= int64(len(line))
			if whole {
				end--
			}
			return true
		})
		if err != nil || !slices.Equal(got, want) || end != 0 {
			t.Fatalf("%d lines of %d, %d bytes left, %v", len(got), len(want), end, err)
		}
	}
}

type readerAt func(p []byte, off int64) (int, error)

func (f readerAt) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// TestLogReadsTheEndOnly: the last lines of a large ledger cost what they are, not what the ledger is.
func TestLogReadsTheEndOnly(t *testing.T) {
	line := []byte(strings.Repeat("x", 200) + "\n")
	const size = int64(1) << 30
	read := 0
	r := readerAt(func(p []byte, off int64) (int, error) {
		read += len(p)
		for i := range p {
			p[i] = line[(off+int64(i))%int64(len(line))]
		}
		return len(p), nil
	})
	n := 0
	end := size / int64(len(line)) * int64(len(line))
	if err := backwards(r, end, func([]byte, int64, bool) bool { n++; return n < 50 }); err != nil || n != 50 || read > 2*blockSize {
		t.Errorf("%d lines, %d bytes read, %v", n, read, err)
	}
}

// TestSeeking: it finds what reading every line finds, whatever the sizes of lines, blocks and the rest at the end.
func TestSeeking(t *testing.T) {
	clocktest.Alone(t)
	rng := rand.New(rand.NewPCG(1, 2))
	type line struct {
		text  string
		end   int64
		whole bool
	}
	odd := func(l []byte) bool { return len(l)%23 == 0 }
	for range 300 {
		var file []byte
		for range rng.IntN(40) {
			n := rng.IntN(200)
			switch rng.IntN(12) {
			case 0:
				n = rng.IntN(3 * searchBlockSize)
			case 1:
				n = searchBlockSize - rng.IntN(3)
			}
			l := bytes.Repeat([]byte("x"), n)
			for range rng.IntN(3) {
				if at := rng.IntN(n + 1); at+4 <= n {
					copy(l[at:], "k7m2")
				}
			}
			file = append(append(file, l...), '\n')
		}
		if len(file) > 0 && rng.IntN(2) == 0 {
			file = file[:len(file)-1-rng.IntN(min(len(file), 300))]
		}
		var want, got []line
		f := bytes.NewReader(file)
		err := backwards(f, int64(len(file)), func(l []byte, end int64, whole bool) bool {
			if !whole || bytes.Contains(l, []byte("k7m2")) || odd(l) {
				want = append(want, line{string(l), end, whole})
			}
			return true
		})
		err = errors.Join(err, backwardsWith(f, int64(len(file)), []byte("k7m2"), odd, func(l []byte, end int64, whole bool) bool {
			got = append(got, line{string(l), end, whole})
			return true
		}))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d bytes: %d lines, want %d: %v", len(file), len(got), len(want), err)
		}
		if len(want) > 1 {
			n := 0
			if err := backwardsWith(f, int64(len(file)), []byte("k7m2"), odd, func([]byte, int64, bool) bool { n++; return n < 2 }); err != nil || n != 2 {
				t.Fatal(n, err)
			}
		}
	}
}
