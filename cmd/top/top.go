// Package top has the full-screen view: what is due, what runs, the inbox, the log and the coming
// day on one screen, with keys that change it. Only this package uses the library that draws on the
// terminal.
package top

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// Command is the command top.
func Command() cli.Command {
	return cli.Command{
		Name: "top", Short: "a full-screen view of it all: what is due, what runs, the inbox, the log, the coming day",
		Long: `
Shows on one screen what is due, counting down, what runs and what it writes, what waits in the inbox, what has happened,
and when something is due within the coming 24 hours; it follows every change. Keys add, edit, pause, fire, stop, remove
and acknowledge, and u undoes the last removal; ? shows all of them. The mouse selects, scrolls and switches panes.

What is typed after a and e is read as at and edit read their words, and what the time means is shown meanwhile. Runs
that were fired here end with the view; everything else goes on without it.

It needs a terminal of 60 columns and 15 lines or more. With NO_COLOR it draws without colour. In a pipe, and where the
cursor cannot be moved (TERM=dumb), there is no view: ouro-timer ls, inbox and log show the same in lines.`,
		Examples: []string{"ouro-timer top", "ouro-timer top --tz Europe/Warsaw"},
		Options:  option.Rows{cli.NoAutostartFlag, cli.ZoneFlag},
		Run:      run,
	}
}

// least is the smallest window in which something is shown.
const leastWidth, leastHeight = 60, 15

func run(ctx context.Context, s *cli.Call) error {
	if err := cli.NoArguments(s); err != nil {
		return err
	}
	instead := problem.T("%s, %s and %s show the same in lines", problem.To("ls"), problem.To("inbox"),
		problem.To("log"))
	if !cli.IsTerminal(s.World.In) || !cli.IsTerminal(s.World.Out) {
		return problem.Of(problem.T("top needs a terminal for its input and its output"), instead)
	}
	if kind := s.Getenv("TERM"); kind == "" || kind == "dumb" {
		return problem.Of(problem.T("top needs a terminal whose cursor can be moved, and TERM is %s",
			cli.Quote(kind)), instead)
	}
	zone, err := s.Zone()
	if err != nil {
		return err
	}
	if _, err := s.Settings(); err != nil {
		return err
	}
	stderr := &statusWriter{}
	original := s.World.Err
	s.World.Err = stderr // only the view may write on the screen
	defer func() { s.World.Err = original }()
	st, err := s.Open()
	if err != nil {
		return err
	}
	// A terminal that is gone tells by HUP only those whose controlling terminal it is, unless they
	// ignore that.
	shown, stop := cli.WithReader(ctx, s.World.Out)
	defer stop()
	typed, stop := cli.WithReader(shown, asWriter(s.World.In))
	defer stop()
	viewCtx, endView := context.WithCancel(typed)
	times := cli.LocaleOn(ctx, s.World.Out, s.Getenv)
	act := &storeActions{ctx: viewCtx, base: s, st: st, zone: zone, times: times}
	m := newModel(act, zone, s.Clock.Now(), looks{colour: bool(cli.PaintOn(s.World.Out, s.Getenv)),
		ascii: !view.UsesUTF8(s.Getenv), times: times})
	p := tea.NewProgram(m, tea.WithInput(s.World.In), tea.WithOutput(s.World.Out),
		tea.WithEnvironment(s.Environ()), tea.WithoutSignalHandler())
	stderr.show = func(line string) { go p.Send(status{text: line, failed: true}) }
	if err := watchStore(viewCtx, st, func() { p.Send(storeChanged{}) }); err != nil {
		endView()
		return err
	}
	go func() {
		// Quit waits for the goroutine that reads keys. tea.WithContext does not wait, and races
		// with it.
		<-viewCtx.Done()
		p.Quit()
	}()
	_, err = p.Run()
	endView()
	act.firing.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(context.Cause(typed), cli.ErrReaderGone):
		return cli.ExitCode(cli.ExitFailed)
	}
	return err
}

// asWriter is a terminal from which keys are read, as one that is written to.
func asWriter(in io.Reader) io.Writer {
	w, _ := in.(io.Writer)
	return w
}

// watchStore calls changed when tasks, items or lines of the ledger have changed, until ctx ends.
// The watches are in place when it returns.
func watchStore(ctx context.Context, st state.Store, changed func()) error {
	queue, err := st.Follow(ctx)
	if err != nil {
		return err
	}
	mail, err := st.WatchMail(ctx)
	if err != nil {
		return err
	}
	log, err := st.WatchLog(ctx, "")
	if err != nil {
		return err
	}
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-queue.Changed():
			case <-mail:
			case <-log:
			}
			changed()
		}
	}()
	return nil
}

// statusWriter takes what would be written to standard error, and shows it in the status line.
type statusWriter struct {
	mu   sync.Mutex
	show func(line string)
}

func (t *statusWriter) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if line := strings.TrimSpace(string(text)); line != "" && t.show != nil {
		t.show(strings.TrimPrefix(line, "ouro-timer: "))
	}
	return len(text), nil
}
