package cli

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
)

// spoken is how many bytes a call has written to standard output and to standard error that are its
// own words. What commands write that it runs, or shows while they run, is not among them.
type spoken struct {
	out, err int64
	ofOthers bool // its answer has the words of another program in it
}

// counting counts what reaches a stream.
type counting struct {
	to io.Writer
	n  *int64
}

func (c counting) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	*c.n += int64(n)
	return n, err
}

// Relays says that the answer has in it what another program wrote: it is told as that program's
// output is.
func (o *Out) Relays() { o.spoken.ofOthers = true }

// Own notes, where the call was made by a run that writes to the same streams, that what was said
// so far is no output of the run that is to be told: whoever calls this program in a task has its
// answer, and the log. Nothing is noted of a call that failed, nor where it cannot be: then it is
// told, once more than need be.
func (s *Call) Own() {
	name, number, ok := strings.Cut(s.Getenv("OURO_OCCURRENCE"), "/")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 || !state.WholeID(name) || s.spoken.ofOthers || s.spoken.out+s.spoken.err == 0 {
		return
	}
	st, err := s.Open()
	if err != nil {
		return
	}
	stdout, stderr := st.Output(name, n)
	for _, said := range []struct {
		to any
		n  *int64
	}{{s.World.Out, &s.spoken.out}, {s.World.Err, &s.spoken.err}} {
		f, ok := said.to.(*os.File)
		if !ok || *said.n == 0 {
			continue
		}
		for _, stream := range []state.Stream{stdout, stderr} { // 2>&1
			if owned, err := stream.Own(context.Background(), f, *said.n); owned || err != nil {
				break
			}
		}
		*said.n = 0
	}
}

// Follow is a call of another command, whose answer goes on where that of this one ends.
func (s *Call) Follow(c *Command) *Call {
	f := NewCall(s.World)
	f.Cmd, f.Called, f.Surface = c, s.Called, s.Surface
	f.Stdout, f.spoken = s.Stdout, s.spoken
	return f
}
