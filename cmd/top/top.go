// Package top has the full-screen view: what is due, what runs, the inbox, the log and the coming
// day on one screen, with keys that change it. Only this package uses the library that draws on the
// terminal.
package top

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

func Command() cli.Command {
	return cli.Command{
		Name: "top", Short: "a full-screen view of it all: what is due, what runs, the inbox, the log, the coming day",
		Long: `
Shows on one screen what is due, counting down, what runs and what it writes, what waits in the inbox, what has happened,
and when something is due within the coming 24 hours; it follows every change. Keys add, edit, pause, fire, stop, remove
and acknowledge, and u undoes the last removal; ? shows all of them. The mouse selects, scrolls and switches panes.

What is typed behind a and e is read as at and edit read their words, and what the time means is shown meanwhile. What
was fired here is ended when the view is; everything else goes on without it.

It takes a terminal of 60 columns and 15 lines or more. NO_COLOR has it draw without colour. In a pipe, and where the
cursor cannot be moved (TERM=dumb), there is no view: ouro-timer ls, inbox and log say the same.`,
		Examples: []string{"ouro-timer top", "ouro-timer top --tz Europe/Warsaw"},
		Options:  option.Rows{cli.NoAutostartFlag(), cli.ZoneFlag()},
		Run:      run,
	}
}

// least is the smallest window in which something is shown.
const leastWidth, leastHeight = 60, 15

func run(ctx context.Context, s *cli.Call) error {
	if err := cli.NoArguments(s); err != nil {
		return err
	}
	instead := problem.T("%s, %s and %s say the same in lines", problem.To("ls"), problem.To("inbox"),
		problem.To("log"))
	if !cli.IsTerminal(s.World.In) || !cli.IsTerminal(s.World.Out) {
		return problem.Of(problem.T("top needs a terminal for its keys and for its screen"), instead)
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
	said := &teller{}
	errs := s.World.Err
	s.World.Err = said // only the view writes on the screen
	defer func() { s.World.Err = errs }()
	st, err := s.Open()
	if err != nil {
		return err
	}
	living, end := context.WithCancel(ctx)
	times := cli.LocaleOn(ctx, s.World.Out, s.Getenv)
	d := &deeds{ctx: living, s: s, st: st, zone: zone, times: times}
	m := newModel(d, zone, s.Clock.Now(), looks{colour: bool(cli.PaintOn(s.World.Out, s.Getenv)),
		ascii: !view.SpeaksUTF8(s.Getenv), times: times})
	p := tea.NewProgram(m, tea.WithInput(s.World.In), tea.WithOutput(s.World.Out),
		tea.WithEnvironment(s.Environ()), tea.WithoutSignalHandler())
	said.tell = func(line string) { go p.Send(did{text: line, failed: true}) }
	if err := watch(living, st, func() { p.Send(changed{}) }); err != nil {
		end()
		return err
	}
	go func() {
		// Quitting waits for the reader of the keys. tea.WithContext does not, and races with it.
		<-living.Done()
		p.Quit()
	}()
	_, err = p.Run()
	end()
	d.fired.Wait() // runs of fire are waited for
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, tea.ErrProgramKilled) && living.Err() == nil:
		return nil
	}
	return err
}

// watch calls tell when tasks, items or lines of the ledger have changed, until ctx ends. The
// watches are in place when it returns.
func watch(ctx context.Context, st state.Store, tell func()) error {
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
			tell()
		}
	}()
	return nil
}

// teller collects what would be written to standard error while the view is on the screen.
type teller struct {
	mu   sync.Mutex
	tell func(line string)
}

func (t *teller) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if line := strings.TrimSpace(string(text)); line != "" && t.tell != nil {
		t.tell(strings.TrimPrefix(line, "ouro-timer: "))
	}
	return len(text), nil
}

// second is when the next second begins, at which countdowns are drawn.
func second(now time.Time) time.Duration { return time.Second - time.Duration(now.Nanosecond()) }
