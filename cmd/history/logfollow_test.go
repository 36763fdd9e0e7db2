package history

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// TestLogPlace: what --max ends with is read back as it is, and nothing else is read.
func TestLogPlace(t *testing.T) {
	for _, p := range []logPlace{
		{state.Place{}, nil},
		{state.Place{Part: 3, Offset: 12345}, nil},
		{state.Place{Part: 1, Offset: 7}, map[int][2]int64{12: {5, 0}, 3: {0, 1 << 40}}},
	} {
		back, err := parseLogPlace(p.String())
		if err != nil || back.String() != p.String() {
			t.Errorf("%s: %v, %v", p, back, err)
		}
	}
	for _, bad := range []string{"", "1", "1.2,", "1.2,3", "1.2,3:4", "1.2,3:4:5:6", "1.2,3:-4:5", "1.2,x:4:5", "1.2 ,3:4:5", "1.2;3:4:5"} {
		if p, err := parseLogPlace(bad); err == nil {
			t.Errorf("%q is %v", bad, p)
		}
	}
}

// tailer is a follower of one run, whose output is written by the test.
type tailer struct {
	*logFollower
	t        *testing.T
	dir      string
	run      *runOutput
	out, err bytes.Buffer
}

func newTailer(t *testing.T, at int64) *tailer {
	x := &tailer{t: t, dir: t.TempDir()}
	w := cli.World{Out: &x.out, Err: &x.err, Getenv: func(string) string { return "" }, Clock: clock.System}
	x.logFollower = &logFollower{Call: cli.NewCall(w), o: &logOptions{task: "k7m2"}}
	x.run = newRunOutput(&memory.Store{Folder: x.dir}, "k7m2", 1, [2]int64{at, at})
	t.Cleanup(x.run.close)
	return x
}

func (x *tailer) path() string { return x.run.streams[0].source.Where() }

// wrote puts text in the place of the file, or behind it.
func (x *tailer) wrote(how int, text string) {
	x.t.Helper()
	f, err := os.OpenFile(x.path(), os.O_WRONLY|os.O_CREATE|how, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err != nil {
		x.t.Fatal(err)
	}
	f.Close()
}

// tells drains and compares.
func (x *tailer) tells(want string, end *state.Line) {
	x.t.Helper()
	x.showOutput(x.t.Context(), x.run, end)
	if got := x.out.String(); got != want {
		x.t.Errorf("told %.200q (%d bytes), want %.200q (%d bytes)", got, len(got), want, len(want))
	}
	x.out.Reset()
}

func TestFollowedOutput(t *testing.T) {
	t.Run("grows", func(t *testing.T) {
		x := newTailer(t, 0)
		x.tells("", nil) // it is not there yet
		x.wrote(os.O_TRUNC, "one\n")
		x.tells("one\n", nil)
		x.tells("", nil)
		x.wrote(os.O_APPEND, "two")
		x.tells("two", nil)
		x.tells("\n", &state.Line{}) // the entry comes on a line of its own
	})
	t.Run("characters are told whole", func(t *testing.T) {
		x := newTailer(t, 0)
		euro := "€"
		for i := range len(euro) {
			x.wrote(os.O_APPEND|os.O_CREATE, euro[i:i+1])
			x.tells(map[bool]string{true: euro}[i == len(euro)-1], nil)
		}
		x.wrote(os.O_APPEND, "\xe2\x82")
		x.tells("", nil)
		if at := x.run.streams[0].shown(); at != 3 {
			t.Errorf("%d bytes were told", at)
		}
		x.tells("\xe2\x82\n", &state.Line{})
		x.wrote(os.O_APPEND, "\xff\xfe\n")
		x.tells("\xff\xfe\n", nil)
	})
	t.Run("an attempt that is made again", func(t *testing.T) {
		x := newTailer(t, 0)
		x.wrote(os.O_TRUNC, "first attempt\n")
		x.tells("first attempt\n", nil)
		x.wrote(os.O_TRUNC, "second\n")
		x.tells("second\n", nil)
	})
	t.Run("what is long is told from the end", func(t *testing.T) {
		x := newTailer(t, -1)
		var text strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&text, "line %d\n", i)
		}
		x.wrote(os.O_TRUNC, text.String())
		x.showOutput(t.Context(), x.run, nil)
		got := x.out.String()
		if len(got) > view.OutputMost || len(got) < view.OutputMost-20 || !strings.HasPrefix(got, "line ") || !strings.HasSuffix(text.String(), "\n"+got) {
			t.Errorf("%d bytes that begin with %.20q", len(got), got)
		}
	})
	t.Run("trimmed while it is open", func(t *testing.T) {
		x := newTailer(t, 0)
		text := strings.Repeat("0123456789abcde\n", 64<<10)
		x.wrote(os.O_TRUNC, text[:1000])
		x.tells(text[:1000], nil)
		x.wrote(os.O_APPEND, text[1000:])
		if _, err := x.run.streams[0].source.Trim(t.Context(), 64<<10, 192<<10); err != nil {
			t.Fatal(err)
		}
		x.tells(text[1000:], &state.Line{Stdout: state.Output{Bytes: int64(len(text)), Truncated: true}})
	})
	t.Run("trimmed between two calls", func(t *testing.T) {
		text := strings.Repeat("0123456789abcde\n", 64<<10)
		end := &state.Line{Stdout: state.Output{Bytes: int64(len(text)), Truncated: true}}
		for _, at := range []int{0, 1600, len(text) - 16_000, len(text)} {
			x := newTailer(t, int64(at))
			x.wrote(os.O_TRUNC, text)
			if _, err := x.run.streams[0].source.Trim(t.Context(), 64<<10, 192<<10); err != nil {
				t.Fatal(err)
			}
			kept, err := os.ReadFile(x.path())
			if err != nil {
				t.Fatal(err)
			}
			want := string(kept)
			switch {
			case at > len(text)/2:
				want = text[at:]
			case at > 0:
				want = want[at:]
			}
			x.tells(want, end)
		}
	})
	t.Run("gone", func(t *testing.T) {
		x := newTailer(t, 5)
		x.tells("", &state.Line{Stdout: state.Output{Bytes: 10}})
		if _, err := os.Stat(filepath.Join(x.dir, "k7m2.1.out")); err == nil {
			t.Error("it was made")
		}
	})
}
