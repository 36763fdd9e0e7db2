package daemon

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/relay"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// console writes for a runner: answers on standard output in whole lines, and messages on standard
// error. With --output it also copies to standard output what commands write. In the foreground a
// slow reader does not delay the runner; in the background it writes to a file.
type console struct {
	*cli.Call
	zone        *time.Location
	silent      bool                      // --json and --quiet: there are no messages
	keepTrouble func(state.Trouble) error // keeps what goes wrong for doctor; may be nil
	errs        io.Writer                 // where messages go

	outWriter *lineWriter  // standard output; nil in the background
	errWriter *lineWriter  // standard error; nil when it is the same stream, and in the background
	relay     *relay.Relay // passes on what commands write; nil without --output
	terminal  bool         // standard output is a terminal
	ended     atomic.Int64 // how many occurrences have ended
	broken    sync.Once    // says once that the reader has gone
	mu        sync.Mutex   // protects Stdout, because several runs may end at the same time
}

// newConsole makes the console of a runner. The caller closes it.
func newConsole(s *cli.Call, foreground bool, zone *time.Location) *console {
	v := &console{Call: s, zone: zone, silent: foreground && (s.InJSON || s.Quiet), errs: s.Err}
	if !foreground {
		return v
	}
	const lostLines = " of the runner's own left out here: nobody read them in time"
	v.outWriter = newLineWriter(s.World.Out,
		func(lost int) []byte { return v.problem(nil, cli.Plural(lost, "line")+lostLines) })
	if sameStream(s.World.Out, s.Err) {
		v.errs = v.outWriter
	} else {
		v.errWriter = newLineWriter(s.Err, func(lost int) []byte {
			return fmt.Appendf(nil, "ouro-timer: %s%s\n", cli.Plural(lost, "line"), lostLines)
		})
		v.errs = v.errWriter
	}
	if !s.Opt.Bool("output") {
		return v
	}
	cli.BrokenPipesAreErrors() // to the end, because the summary may have no reader, either
	_, v.terminal = s.Width()
	v.relay = relay.New(clock.Awake, v, func(err error) {
		v.broken.Do(func() { v.sayAlways(copiedNoLonger, err) })
	})
	return v
}

// setOptions makes a runner write to the console.
func (v *console) setOptions(o *runner.Options) {
	o.Say, o.Warn, o.Relay = v.say, v.warn, v.relay
	o.Deliver = func(r state.Record) error {
		if v.outWriter != nil && !v.InJSON {
			return v.delivered(r)
		}
		return nil // the sender tells others
	}
	o.Told = func(_ state.Notice, line state.Line) {
		if v.InJSON {
			v.answerJSON(view.StreamLine{LineJSON: view.AsLineJSON(line, v.zone), Now: v.Now(v.zone)})
		}
	}
	o.Ended = func(r state.Record, line state.Line) {
		v.ended.Add(1)
		switch {
		case v.InJSON:
			v.answerJSON(view.StreamLine{LineJSON: view.AsLineJSON(line, rules.TaskZone(r.Task)), Now: v.Now(v.zone)})
		case line.Number == 0: // not started: perhaps a range of instants
			v.say("%s: %s (%s) %s", line.TaskID, line.Outcome, line.Reason, cli.Plural(line.Count, "instant"))
		default:
			v.say("%s %s", state.OccurrenceID(line.TaskID, line.Number), view.OutcomeWords(line))
		}
	}
}

// copiedNoLonger is written once, when the reader of standard output has gone.
const copiedNoLonger = "standard output cannot be written (%v): the output of commands is no longer copied, and " +
	"still kept"

// say writes a message to standard error.
func (v *console) say(format string, a ...any) {
	if !v.silent {
		v.write(fmt.Sprintf(format, a...))
	}
}

// warn writes a message about what goes wrong, and keeps it for doctor.
func (v *console) warn(format string, a ...any) {
	v.say(format, a...)
	v.keep(fmt.Sprintf(format, a...))
}

// keep keeps a message for doctor.
func (v *console) keep(text string) {
	if v.keepTrouble != nil {
		// On an error, the log still has it.
		_ = v.keepTrouble(state.Trouble{At: v.Clock.Now(), Text: cli.Visible(text)})
	}
}

// sayAlways writes a message about what goes wrong also with --quiet, and keeps it for doctor.
func (v *console) sayAlways(format string, a ...any) {
	text := fmt.Sprintf(format, a...)
	v.keep(text)
	if !v.InJSON {
		v.write(text)
	} else if v.answer(v.problem(nil, text)) != nil {
		v.write(text) // a dry run of the stream has no answers
	}
}

func (v *console) write(text string) {
	fmt.Fprintf(v.errs, "%s %s\n", v.Clock.Now().In(v.zone).Format("2006-01-02 15:04:05"), cli.Visible(text))
}

// answer writes a line of the answer.
func (v *console) answer(line []byte) error {
	if v.outWriter != nil {
		return v.outWriter.put(line)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	_, _ = v.Stdout.Write(line) // Flush returns the error
	return v.Flush()
}

// answerJSON writes an object of the answer.
func (v *console) answerJSON(answer any) {
	_ = v.answer(cli.Encode(answer)) // when the reader has gone, the work goes on
}

// problem appends a line about something that is wrong.
func (v *console) problem(to []byte, text string) []byte {
	if !v.InJSON {
		return fmt.Appendf(to, "ouro-timer: %s\n", text)
	}
	now := v.Clock.Now().In(v.zone)
	return append(to, cli.Encode(view.ProblemJSON{Type: "problem", At: now, Text: text, Now: now})...)
}

// Append appends a piece of the output of a run, in the form for standard output.
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
		return append(to, cli.Encode(view.PieceJSON{Type: "output", At: now, ID: p.Run, TaskID: p.Task,
			Stream: p.Stream, Offset: p.From, Text: strings.ToValidUTF8(string(p.Text), "\uFFFD"), Now: now})...)
	}
	return pieceLine(to, p, v.terminal)
}

// pieceLine appends a piece as a line: the run, out or err, a colon and the text. In the place of
// the colon a plus says that the line goes on in the next piece of that stream, and an exclamation
// mark that something is left out.
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

// Write passes pieces on, and waits until there is room for more.
func (v *console) Write(text []byte) error { return v.outWriter.putAndWait(text) }

// unreadMost is how long a runner that was told to end waits for the reader of its standard output.
const unreadMost = 3 * time.Second

// close waits until everything is read or the reader has gone. A runner that was told to end waits
// for unreadMost, and one that was told twice not at all.
func (v *console) close(ctx context.Context, kill <-chan struct{}) {
	if v.outWriter == nil {
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
			_ = clock.Awake.For(waiting, unreadMost) // an error means that the wait is over
		}()
		select {
		case <-kill:
		case <-over:
		}
	}()
	left := v.relay.Close(waiting)
	more, err := v.outWriter.close(waiting)
	if v.errWriter == nil {
		return // nobody can read how much was lost
	}
	if err != nil && v.relay != nil {
		v.broken.Do(func() { v.write(fmt.Sprintf(copiedNoLonger, err)) })
	}
	if left+more > 0 {
		v.write(fmt.Sprintf("about %d bytes on standard output are lost: nobody read them in time", left+more))
	}
	if waiting.Err() != nil { // perhaps standard error still has a reader
		var stop context.CancelFunc
		waiting, stop = context.WithTimeout(context.Background(), stderrMost)
		defer stop()
	}
	_, _ = v.errWriter.close(waiting) // nobody can read that it failed
}

// stderrMost is how long close waits for the reader of standard error when the reader of standard
// output did not read in time.
const stderrMost = 500 * time.Millisecond

// delivered writes a message in the foreground.
func (v *console) delivered(r state.Record) error {
	return v.answer([]byte(cli.Visible(r.Task.Message()) + "\n"))
}
