package cli

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
)

// spoken counts the bytes of its own words that a call has written to standard output and standard
// error. The output of commands that it runs or shows does not count.
type spoken struct {
	out, err int64
	ofOthers bool // the answer has output of another program
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

// Relays says that the answer has output of another program, which is news as the output of that
// program is.
func (o *Out) Relays() { o.spoken.ofOthers = true }

// Own notes for a call within a run that its own answer is not output of the run that has to be
// told: whoever calls this program in a task has its answer, and the log. It notes nothing of a
// call that failed. When it cannot note it, the output is told once too often.
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

// Follow is a call of another command whose answer goes on after that of this one.
func (s *Call) Follow(c *Command) *Call {
	f := NewCall(s.World)
	f.Cmd, f.Called, f.Surface = c, s.Called, s.Surface
	f.Stdout, f.spoken = s.Stdout, s.spoken
	return f
}
