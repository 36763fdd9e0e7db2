package daemon

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/relay"
)

// console is how a runner speaks: answers on standard output, whole lines at a time, and talk on
// standard error. With --output it says there what commands write, too. In the foreground no reader
// of any of that holds up the runner; in the background a file is the reader.
type console struct {
	*cli.Call
	zone   *time.Location
	silent bool                      // --json, --quiet: no talk
	noted  func(state.Trouble) error // keeps what goes wrong for doctor; nil: nobody does
	errs   io.Writer                 // takes the talk

	outlet   *outlet      // of standard output; nil in the background
	talk     *outlet      // of standard error; nil where that is outlet's, and in the background
	relay    *relay.Relay // nil without --output
	terminal bool         // standard output is one
	broken   sync.Once    // the reader has gone
	mu       sync.Mutex   // runs end side by side, and each has its say
}

// newConsole is the voice of a runner, in the background or not. Close it.
func newConsole(s *cli.Call, foreground bool, zone *time.Location) *console {
	v := &console{Call: s, zone: zone, silent: foreground && (s.InJSON || s.Quiet), errs: s.Err}
	if !foreground {
		return v
	}
	const lostLines = " of the runner's own left out here: nobody read them in time"
	v.outlet = newOutlet(s.World.Out,
		func(lost int) []byte { return v.problem(nil, cli.Plural(lost, "line")+lostLines) })
	if sameStream(s.World.Out, s.Err) {
		v.errs = v.outlet
	} else {
		v.talk = newOutlet(s.Err, func(lost int) []byte {
			return fmt.Appendf(nil, "ouro-timer: %s%s\n", cli.Plural(lost, "line"), lostLines)
		})
		v.errs = v.talk
	}
	if !s.Opt.Bool("output") {
		return v
	}
	cli.DeafToPipes() // to the end: the summary may have no reader, either
	_, v.terminal = s.Width()
	v.relay = relay.New(clock.Awake, v, func(err error) {
		v.broken.Do(func() { v.complain(copiedNoLonger, err) })
	})
	return v
}

// copiedNoLonger is said once, when the reader of standard output has gone.
const copiedNoLonger = "standard output cannot be written (%v): what commands write is copied no longer, and kept as before"

// say is talk.
func (v *console) say(format string, a ...any) {
	if !v.silent {
		v.write(fmt.Sprintf(format, a...))
	}
}

// warn is talk of what goes wrong.
func (v *console) warn(format string, a ...any) {
	v.say(format, a...)
	v.note(fmt.Sprintf(format, a...))
}

func (v *console) note(text string) {
	if v.noted != nil {
		_ = v.noted(state.Trouble{At: v.Clock.Now(), Text: cli.Visible(text)}) // the log has it
	}
}

// complain says what is to be known to who asked for no talk, too.
func (v *console) complain(format string, a ...any) {
	text := fmt.Sprintf(format, a...)
	v.note(text)
	if !v.InJSON {
		v.write(text)
	} else if v.answer(v.problem(nil, text)) != nil {
		v.write(text) // nobody reads answers
	}
}

func (v *console) write(text string) {
	fmt.Fprintf(v.errs, "%s %s\n", v.Clock.Now().In(v.zone).Format("2006-01-02 15:04:05"), cli.Visible(text))
}

// answer writes a line of the answer.
func (v *console) answer(line []byte) error {
	if v.outlet != nil {
		return v.outlet.put(line)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	_, _ = v.Stdout.Write(line) // flush tells
	return v.Flush()
}

// tell answers with an object.
func (v *console) tell(answer any) {
	_ = v.answer(jsonLine(nil, answer)) // whoever read the stream has gone; the work goes on
}

// jsonLine appends an object on a line.
func jsonLine(to []byte, answer any) []byte {
	return append(to, cli.Encode(answer)...)
}

// problem appends a line about something that is wrong.
func (v *console) problem(to []byte, text string) []byte {
	if !v.InJSON {
		return fmt.Appendf(to, "ouro-timer: %s\n", text)
	}
	now := v.Clock.Now().In(v.zone)
	return jsonLine(to, view.ProblemJSON{Type: "problem", At: now, Text: text, Now: now})
}

// Append appends a piece of what a run writes, as it stands on standard output.
func (v *console) Append(to []byte, p relay.Piece) []byte {
	switch {
	case p.Runs > 0:
		return v.problem(to, fmt.Sprintf("%d bytes of %s left out here: nobody read them in time", p.Lost,
			cli.Plural(p.Runs, "run")))
	case v.InJSON && p.Lost > 0:
		return v.problem(to, fmt.Sprintf("%s: %d bytes of %s left out: nobody read them in time", p.Run,
			p.Lost, p.Stream))
	case v.InJSON:
		now := v.Clock.Now().In(v.zone)
		return jsonLine(to, view.PieceJSON{Type: "output", At: now, ID: p.Run, TaskID: p.Task, Stream: p.Stream,
			Offset: p.From, Text: strings.ToValidUTF8(string(p.Text), "\uFFFD"), Now: now})
	}
	return pieceLine(to, p, v.terminal)
}

// pieceLine appends a piece as a line: the run, out or err, and the text behind a colon. A plus in
// its place says that the line goes on in the next piece of that stream, and an exclamation mark
// that something is left out.
func pieceLine(to []byte, p relay.Piece, terminal bool) []byte {
	to = append(to, p.Run...)
	if p.Stream == "stderr" {
		to = append(to, " err"...)
	} else {
		to = append(to, " out"...)
	}
	if p.Lost > 0 {
		return fmt.Appendf(to, "! %d bytes left out here: nobody read them in time\n", p.Lost)
	}
	if p.More {
		to = append(to, "+ "...)
	} else {
		to = append(to, ": "...)
	}
	text := bytes.TrimSuffix(p.Text, []byte("\n"))
	if !terminal {
		to = append(to, text...)
	} else {
		parts := strings.Split(strings.TrimSuffix(string(text), "\r"), "\t")
		for i := range parts {
			parts[i] = cli.Visible(parts[i])
		}
		to = append(to, strings.Join(parts, "\t")...)
	}
	return append(to, '\n')
}

// Write passes pieces on, at the reader's pace.
func (v *console) Write(text []byte) error { return v.outlet.give(text) }

// unreadMost is for how long a runner that was told to end waits for who reads its standard output.
const unreadMost = 3 * time.Second

// close returns when all that was said is read, or nobody reads it any more. A runner that was told
// to end waits for that for a while, and one that was told so twice not at all.
func (v *console) close(ctx context.Context, kill <-chan struct{}) {
	if v.outlet == nil {
		return
	}
	waiting, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		defer stop()
		select {
		case <-kill:
			return
		case <-waiting.Done():
			return
		case <-ctx.Done():
		}
		over := make(chan struct{})
		go func() {
			defer close(over)
			_ = clock.Awake.For(waiting, unreadMost) // an error is the end
		}()
		select {
		case <-kill:
		case <-over:
		}
	}()
	left := v.relay.Close(waiting)
	more, err := v.outlet.close(waiting)
	if v.talk == nil {
		return // there is nobody to be told what was not read
	}
	if err != nil && v.relay != nil {
		v.broken.Do(func() { v.write(fmt.Sprintf(copiedNoLonger, err)) })
	}
	if left+more > 0 {
		v.write(fmt.Sprintf("about %d bytes on standard output are lost: nobody read them in time", left+more))
	}
	if waiting.Err() != nil { // it is standard output alone that nobody reads, perhaps
		var stop context.CancelFunc
		waiting, stop = context.WithTimeout(context.Background(), lastTalkMost)
		defer stop()
	}
	_, _ = v.talk.close(waiting) // there is nobody to be told that nobody reads it
}

// lastTalkMost is for how long who reads standard error is waited for when standard output was
// waited for in vain.
const lastTalkMost = 500 * time.Millisecond

// delivered is a message in the foreground.
func (v *console) delivered(r state.Record) error {
	return v.answer([]byte(cli.Visible(r.Task.Message()) + "\n"))
}
