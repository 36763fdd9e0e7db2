package cli

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
)

// ownBytes counts the bytes that a call itself has written to standard output and standard error,
// without the output of commands that it runs or shows.
type ownBytes struct {
	out, err int64
	relays   bool // the answer has output of another program
}

// counting is a stream that counts the bytes written to it.
type counting struct {
	to io.Writer
	n  *int64
}

func (c counting) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	*c.n += int64(n)
	return n, err
}

// RelaysOutput notes that the answer has output of another program, so that MarkOwnOutput does not
// mark it.
func (o *Out) RelaysOutput() { o.ownBytes.relays = true }

// MarkOwnOutput marks the answer of a call that a task's run makes, so that no recipient is
// notified of it as output of the run. The answer is no news: whoever calls this program in a task
// has it, and so has the log. A call that failed is not marked. If marking fails, the recipients
// are notified once too often.
func (s *Call) MarkOwnOutput() {
	name, number, ok := strings.Cut(s.Getenv("OURO_OCCURRENCE"), "/")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 || !state.WholeID(name) || s.ownBytes.relays || s.ownBytes.out+s.ownBytes.err == 0 {
		return
	}
	st, err := s.Open()
	if err != nil {
		return
	}
	stdout, stderr := st.Output(name, n)
	for _, written := range []struct {
		to any
		n  *int64
	}{{s.World.Out, &s.ownBytes.out}, {s.World.Err, &s.ownBytes.err}} {
		f, ok := written.to.(*os.File)
		if !ok || *written.n == 0 {
			continue
		}
		for _, stream := range []state.Stream{stdout, stderr} { // with 2>&1 both go to one stream
			if owned, err := stream.Own(context.Background(), f, *written.n); owned || err != nil {
				break
			}
		}
		*written.n = 0
	}
}

// FollowedBy returns a call of another command, whose answer continues that of this call.
func (s *Call) FollowedBy(c *Command) *Call {
	f := NewCall(s.World)
	f.Cmd, f.Called, f.Surface = c, s.Called, s.Surface
	f.Stdout, f.ownBytes = s.Stdout, s.ownBytes
	return f
}
