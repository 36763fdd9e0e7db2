package daemon

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/notifier"
)

const (
	// startTries is how often the ping of a start is tried while the run goes on. startPause is the
	// pause before the second try; each further pause is twice as long.
	startTries = 3
	startPause = 2 * time.Second
	// startMost is the most time of one try. The ping of the end waits for it, so that the two come
	// in order.
	startMost = 10 * time.Second
	// startsAtOnce is the most pings of starts at once.
	startsAtOnce = 8
	// latePing is how old the end of a run has to be so that its ping is left out when a later run
	// has ended.
	latePing = time.Minute
)

// startPings are the pings of runs that have started. No run waits for them. A failure is only
// written to the runner's log.
type startPings struct {
	mu    sync.Mutex
	open  map[string]*startPing // by run and channel
	slots chan struct{}
}

// startPing is the ping of one run to one channel.
type startPing struct {
	stop context.CancelFunc // ends further tries
	done chan struct{}      // is closed after the last one
}

func newStartPings() *startPings {
	return &startPings{open: map[string]*startPing{}, slots: make(chan struct{}, startsAtOnce)}
}

// pingStarts pings the heartbeats of a task when a run of it starts. It returns at once.
func (c *sender) pingStarts(r state.Record, say func(format string, a ...any)) {
	id := state.OccurrenceID(r.Task.ID, r.Number)
	for _, word := range r.Task.Policy.Notify {
		if notify.SchemeOf(word) != "" {
			continue
		}
		ctx, stop := context.WithCancel(context.Background())
		p := &startPing{stop, make(chan struct{})}
		key := id + " " + word
		c.starts.mu.Lock()
		c.starts.open[key] = p
		c.starts.mu.Unlock()
		go func() {
			defer func() {
				stop()
				c.starts.mu.Lock()
				delete(c.starts.open, key)
				c.starts.mu.Unlock()
				close(p.done)
			}()
			c.pingStart(ctx, r.Task, id, word, say)
		}()
	}
}

// pingStart pings a channel if it is a heartbeat, until its tries are used up or ctx ends. The
// first try is made in any case if there is room for it.
func (c *sender) pingStart(ctx context.Context, t state.Task, id, word string, say func(format string, a ...any)) {
	config, err := c.settings()
	if err != nil || config.Channels[word].Type != notify.Heartbeat {
		return
	}
	select {
	case c.starts.slots <- struct{}{}:
	default:
		select {
		case c.starts.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
	defer func() { <-c.starts.slots }()
	pause := startPause
	for try := 1; try == 1 || ctx.Err() == nil; try++ { // the run may be over before the first try
		within, stop := context.WithTimeout(context.Background(), startMost)
		err := c.ping(within, config, word, notify.Message{ID: id, Ping: notify.PingStart}, t)
		stop()
		if err == nil {
			return
		}
		if try == startTries {
			say("%s: its start could not be told to %s: %v", id, word, err)
			return
		}
		if clock.Awake.For(ctx, pause) != nil {
			return
		}
		pause *= 2
	}
}

// awaitEnd waits until no ping of the start of a run is being sent.
func (s *startPings) awaitEnd(ctx context.Context, id, word string) {
	s.mu.Lock()
	p := s.open[id+" "+word]
	s.mu.Unlock()
	if p == nil {
		return
	}
	p.stop()
	select {
	case <-p.done:
	case <-ctx.Done():
	}
}

// ping pings a heartbeat once.
func (c *sender) ping(ctx context.Context, config state.Config, word string, m notify.Message, t state.Task) error {
	channel, err := notify.Find(word, config.Channels)
	if err == nil {
		_, err = notify.Send(ctx, channel, m, c.envOf(t))
	}
	return err
}

// pingEnd pings the end of a run. It leaves out the end of an earlier run that could not be sent at
// once, because it would be wrong by now.
func (c *sender) pingEnd(ctx context.Context, n state.Notice, channel state.Channel, task state.Task,
	tally state.Tally) (detail string, err error) {
	l, ended := n.Line, n.Line.At
	if l.Ended != nil {
		ended = *l.Ended
	}
	if late := n.Attempts > 0 || c.clock().Sub(l.At) > latePing; late && tally.LastEnd.After(ended) {
		return "", &notifier.SendError{Err: errLaterRun, Permanent: true, Moot: true}
	}
	bare := l
	bare.Text, bare.Description = "", "" // a service outside need not know what the task does
	m := notify.Message{ID: n.ID(), Body: view.OutcomeWords(bare)}
	if l.Outcome != state.OK {
		m.Ping = notify.PingFail
	}
	c.starts.awaitEnd(ctx, n.ID(), n.Channel)
	return notify.Send(ctx, channel, m, c.envOf(task))
}

var errLaterRun = errors.New("a later run has ended since, and is told in its place")

// heartbeatPinger pings the heartbeat of the runner ([run] heartbeat), and says whether the runner
// is well, which means that its loop and its store respond.
type heartbeatPinger struct {
	c        *sender
	st       state.Tasks
	liveness *liveness
	say      func(format string, a ...any)
	again    chan struct{} // has a value when config.toml was read again

	mu          sync.Mutex
	lastFailure string // the last failure that was written to the log
}

// run pings at once, and then at each interval, until living ends. Without a heartbeat it waits
// until config.toml has one.
func (p *heartbeatPinger) run(living context.Context) {
	for living.Err() == nil {
		config := p.c.latest()
		if config.Run.Heartbeat == "" {
			select {
			case <-p.again:
			case <-living.Done():
			}
			continue
		}
		p.beat(living, config)
		every, _ := state.ParseSpan(config.Run.HeartbeatEvery)
		waiting, stop := context.WithCancel(living)
		over := make(chan error, 1)
		go func() { over <- clock.Awake.For(waiting, cmp.Or(every, time.Minute)) }()
		select {
		case <-over:
		case <-p.again:
		}
		stop()
	}
}

// beat pings once that the runner is well, or what is wrong.
func (p *heartbeatPinger) beat(ctx context.Context, config state.Config) {
	asking, stop := context.WithTimeout(ctx, answerMost)
	defer stop()
	m := notify.Message{Body: "the runner is well"}
	if !p.liveness.responds(asking) {
		m.Ping, m.Body = notify.PingFail, "the runner's loop does not respond"
	} else if _, _, err := state.Next(asking, p.st, time.Time{}); err != nil {
		m.Ping, m.Body = notify.PingFail, "the runner's state cannot be read"
	}
	if ctx.Err() == nil {
		p.send(ctx, config, m)
	}
}

// send pings, and writes to the log when the result is not that of the ping before.
func (p *heartbeatPinger) send(ctx context.Context, config state.Config, m notify.Message) {
	within, stop := context.WithTimeout(ctx, startMost)
	defer stop()
	failure := ""
	if err := p.c.ping(within, config, config.Run.Heartbeat, m, state.Task{}); err != nil {
		failure = cli.Explain(err).Error()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if failure != p.lastFailure && ctx.Err() == nil {
		if p.lastFailure = failure; failure == "" {
			p.say("the heartbeat of the runner (%s) is told again", config.Run.Heartbeat)
		} else {
			p.say("the heartbeat of the runner (%s) could not be told: %s", config.Run.Heartbeat, failure)
		}
	}
}

// ended pings that the runner has ended with an error.
func (p *heartbeatPinger) ended() {
	config := p.c.latest()
	if config.Run.Heartbeat != "" {
		p.send(context.Background(), config, notify.Message{Ping: notify.PingFail,
			Body: "the runner has ended with an error"})
	}
}

// taskOf returns the task of a notice, and its tally, if the task still exists.
func (c *sender) taskOf(ctx context.Context, id string, prefix string) (state.Task, state.Tally) {
	found, err := c.st.Find(ctx, id)
	if err != nil || len(found) != 1 {
		return state.Task{ID: id, Policy: state.Policy{Prefix: prefix}}, state.Tally{}
	}
	task := found[0].Task
	if task.Policy.Prefix == "" && !task.Policy.NoPrefix {
		task.Policy.Prefix = prefix
	}
	return task, found[0].Tally
}
