package ledger

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// TestBackwards holds reading from the end against splitting the whole, with lines around the size of a block.
func TestBackwards(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		var want []string
		var text strings.Builder
		for range rng.IntN(12) {
			size := []int{0, 1, 100, blockSize - 1, blockSize, blockSize + 1, 3*blockSize + 7, maxBlockSize - 1, maxBlockSize, 2 * maxBlockSize}[rng.IntN(10)]
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

// TestLines: of a task there are the lines that say so and the damaged ones, whatever the sizes of lines, blocks and the rest at the end.
func TestLines(t *testing.T) {
	clocktest.Alone(t)
	rng, mine := rand.New(rand.NewPCG(1, 2)), state.ID(7)
	for range 100 {
		var want []string
		var file []byte
		for range rng.IntN(60) {
			size := rng.IntN(200)
			switch rng.IntN(12) {
			case 0:
				size = rng.IntN(3 * maxBlockSize)
			case 1:
				size = maxBlockSize - rng.IntN(3)
			}
			id := []string{mine, state.ID(8), ""}[rng.IntN(3)]
			l := `{"type":"task","at":"2026-11-21T10:00:00Z","task_id":"` + id + `","text":"` + strings.Repeat("x", size) + `"task_id":"}`
			damaged := rng.IntN(4) == 0
			if damaged {
				l = l[:rng.IntN(len(l))] + "~"
			}
			if damaged || id == mine {
				want = append(want, l)
			}
			file = append(append(file, l...), '\n')
		}
		if rng.IntN(2) == 0 {
			file, want = append(file, "{torn"...), append(want, "{torn")
		}
		path := filepath.Join(t.TempDir(), "part")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(want)
		var got []string
		err = Part{File: f, Size: int64(len(file))}.Lines(mine, func(l []byte, end int64, whole bool) bool {
			got = append(got, string(l))
			if !bytes.HasSuffix(file[:end], append(slices.Clone(l), "\n"[:map[bool]int{true: 1}[whole]]...)) {
				t.Errorf("at %d there is another line", end)
			}
			return true
		})
		f.Close()
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d bytes: %d lines, want %d: %v", len(file), len(got), len(want), err)
		}
	}
}
