package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Runner is a runner of the fleet, as it describes itself.
type Runner struct {
	state.Node
	Leader state.Leader `json:"leader"`
	Rules  string       `json:"tzdata,omitempty"` // the version of the zone rules
	// free places for commands, according to the heartbeat
	Free    int  `json:"free"`
	Drained bool `json:"-"` // it begins nothing
	Runs    int  `json:"-"` // its open claims
}

const (
	beat     = 5 * time.Second
	beatMost = 4 * beat        // the servers drop a heartbeat after this time
	quick    = time.Second / 2 // a slower write says little about the clock
	// Without an answer for so long, what a runner has claimed and not begun may be taken by
	// others.
	releaseAfter = 30 * time.Second
)

// peer is what is known about a node, by the clock of this process.
type peer struct {
	seen     time.Time // when its runner was last heard of, or first looked for
	rev      uint64    // the revision of that heartbeat
	node     string    // the machine, as identities name it
	released bool      // it has said that it ends
}

// Runners returns the living runners, in order of their nodes.
func (s *Store) Runners(ctx context.Context) (list []Runner, err error) {
	cells, _, err := s.all(ctx, hearts)
	for _, c := range cells {
		var r Runner
		if err := decode(c, &r); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Runner) int { return slices.Compare([]string{a.Name}, []string{b.Name}) })
	return list, err
}

// Leaders returns the living runners by the names of their nodes.
func (s *Store) Leaders(ctx context.Context) (map[string]state.Leader, error) {
	list, err := s.Runners(ctx)
	leaders := map[string]state.Leader{}
	for _, r := range list {
		leaders[r.Name] = r.Leader
	}
	return leaders, err
}

// Here returns this machine.
func (s *Store) Here() state.Node { return s.node }

// MayLead reports whether these credentials permit a heartbeat. It asks for one that is never
// written, because its key has another revision.
func (s *Store) MayLead(ctx context.Context) (bool, error) {
	never := Op{Cell: Cell{Key: heart(s.node.Name), Rev: 1 << 62, Data: []byte("{}")}}
	err := s.patiently(ctx, func(ctx context.Context) error {
		if err := s.kv.Commit(ctx, []Op{never}); !errors.Is(err, ErrMoved) {
			return err
		}
		return nil
	})
	if errors.Is(err, ErrDenied) {
		return false, nil
	}
	return err == nil, err
}

// Steward reports whether the runner of this machine is the first of those with the newest zone
// rules.
func (s *Store) Steward(ctx context.Context) (bool, error) {
	list, err := s.Runners(ctx)
	if err != nil || len(list) == 0 {
		return false, err
	}
	// the first of those
	newest := slices.MaxFunc(list, func(a, b Runner) int { return strings.Compare(a.Rules, b.Rules) })
	return newest.Name == s.node.Name, nil
}

// living returns the living runners, and marks those that are drained.
func (s *Store) living(ctx context.Context) ([]Runner, error) {
	list, err := s.Runners(ctx)
	if err != nil {
		return nil, err
	}
	drained, _, err := s.all(ctx, drains)
	for i, r := range list {
		list[i].Drained = slices.ContainsFunc(drained, func(c Cell) bool { return c.Key == hashKey(drains, r.Name) })
	}
	return list, err
}

// Nodes returns the living runners, with what they do.
func (s *Store) Nodes(ctx context.Context) ([]Runner, error) {
	list, err := s.living(ctx)
	if err != nil {
		return nil, err
	}
	open, _, err := s.Open(ctx)
	for i, r := range list {
		for _, c := range open {
			if c.Runner == r.Leader.Ident {
				list[i].Runs++
			}
		}
	}
	return list, err
}

// Drain makes the runner of a node begin nothing more, or lets it begin again.
func (s *Store) Drain(ctx context.Context, node string, drained bool) error {
	for {
		c, err := s.get(ctx, hashKey(drains, node))
		if err != nil || drained == (len(c.Data) > 0) {
			return err
		}
		op := Op{Cell: Cell{Key: hashKey(drains, node), Rev: c.Rev, Nonces: c.Nonces}}
		if drained {
			op.Data = []byte(node)
		}
		if _, err = s.commit(ctx, []Op{op}); !errors.Is(err, ErrMoved) {
			return err
		}
	}
}

// Living returns the nodes whose runners live and begin tasks.
func (s *Store) Living(ctx context.Context) (nodes []state.Node, err error) {
	list, err := s.living(ctx)
	for _, r := range list {
		if !r.Drained {
			nodes = append(nodes, r.Node)
		}
	}
	return nodes, err
}

// Homeless returns the waiting tasks that no living runner may run.
func (s *Store) Homeless(ctx context.Context) (ids []string, err error) {
	nodes, err := s.Living(ctx)
	if err != nil {
		return nil, err
	}
	list, err := s.standing(ctx, "", false)
	for _, f := range list {
		if f.waits && !slices.ContainsFunc(nodes, func(n state.Node) bool { return n.Fits(f.on) }) {
			ids = append(ids, f.id)
		}
	}
	slices.Sort(ids)
	return ids, err
}

// heart returns the key of the heartbeat of a node, whose name may have any characters.
func heart(name string) string { return hashKey(hearts, name) }

// lease is the runner lock of this machine, with the heartbeats of its runner.
type lease struct {
	state.Lease
	s    *Store
	mu   sync.Mutex
	says Runner
	stop func()
	over chan struct{}
	sent time.Time // the middle of the last write, if that was quick
	// the runner before, whose heartbeat the first one replaces
	before state.Ident
}

// Lead takes the runner lock of this machine and announces it to the fleet.
func (s *Store) Lead(ctx context.Context, r state.Leader) (state.Lease, error) {
	l, err := s.Local.Lead(ctx, r)
	return s.lead(ctx, l, r, err)
}

// LeadNext is Lead once the lock is free.
func (s *Store) LeadNext(ctx context.Context, r state.Leader) (state.Lease, error) {
	l, err := s.Local.LeadNext(ctx, r)
	return s.lead(ctx, l, r, err)
}

func (s *Store) lead(ctx context.Context, local state.Lease, r state.Leader, err error) (state.Lease, error) {
	if err != nil {
		return nil, err
	}
	if r.Since.IsZero() {
		r.Since = time.Now()
	}
	r.Since = state.UTC(r.Since)
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	l := &lease{Lease: local, s: s, says: Runner{Node: s.node, Leader: r, Rules: s.rules(), Free: 1}, stop: stop, over: make(chan struct{})}
	err = s.own(ctx, l)
	if err == nil {
		err = s.tellSpooled(ctx)
	}
	if err != nil {
		stop()
		return nil, errors.Join(err, local.Release())
	}
	go func() {
		defer close(l.over)
		ticks := time.NewTicker(beat)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				_ = l.beat(beating) // its age shows that it is not answered
			case <-beating.Done():
				return
			}
		}
	}()
	return l, nil
}

// beat writes a heartbeat.
func (l *lease) beat(ctx context.Context) error {
	l.mu.Lock()
	data, err := json.Marshal(l.says)
	l.mu.Unlock()
	if err != nil {
		return err
	}
	return l.write(ctx, Op{Cell: Cell{Data: data}, TTL: beatMost})
}

func (l *lease) write(ctx context.Context, op Op) error {
	c, err := l.s.get(ctx, heart(l.s.node.Name))
	if err != nil {
		return err
	}
	other, there := holder(c)
	twin := there && other.Ident != l.says.Leader.Ident && other.Ident != l.before
	l.s.mu.Lock()
	l.s.twin = twin
	l.s.mu.Unlock()
	if twin {
		return ErrTwin
	}
	if !l.sent.IsZero() && !c.At.IsZero() { // the time of the write before
		l.s.mu.Lock()
		l.s.ahead = l.sent.Sub(c.At)
		l.s.mu.Unlock()
	}
	op.Key, op.Rev, op.Nonces = heart(l.s.node.Name), c.Rev, c.Nonces
	begun := time.Now()
	_, err = l.s.commit(ctx, []Op{op})
	l.sent = time.Time{}
	if took := time.Since(begun); took < quick {
		l.sent = begun.Round(0).Add(took / 2)
	}
	if err == nil {
		l.s.heard(begun)
	}
	return err
}

// Delay sets what Leader shows as postponed.
func (l *lease) Delay(list []state.Delay) error {
	l.mu.Lock()
	l.says.Leader.Delays = slices.Clone(list)
	l.mu.Unlock()
	return l.Lease.Delay(list)
}

// Free sets how many free places for commands the next heartbeat says. Until it is called, it is
// one.
func (l *lease) Free(n int) {
	l.mu.Lock()
	l.says.Free = n
	l.mu.Unlock()
}

// Release gives the lock back and says so to the fleet, so that others may take over open claims at
// once.
func (l *lease) Release() error {
	l.mu.Lock()
	first := l.stop != nil
	if first {
		l.stop()
		l.stop = nil
	}
	l.mu.Unlock()
	if !first {
		return nil
	}
	<-l.over
	// whoever does not see it waits for state.LostAfter; an earlier heartbeat may be on its way
	for errors.Is(l.write(context.Background(), Op{TTL: tombstone}), ErrMoved) {
	}
	return l.Lease.Release()
}

// Leased reports whether the runner of a machine lives. A runner that is not heard of any more
// counts as living for a while, by the clock of this process, and for as long as our own heartbeats
// are not answered.
func (s *Store) Leased(ctx context.Context, node string, begun bool) (bool, error) {
	if err := s.look(ctx); err != nil {
		return true, err
	}
	most, cut := releaseAfter, s.Contact().Silent > state.CutOff
	if begun {
		most = state.LostAfter
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	released := false
	for _, p := range s.peers {
		if p.node != node {
			continue
		}
		if !p.released && (cut || time.Since(p.seen) < most) {
			return true, nil
		}
		released = true
	}
	if !released { // nobody knows since when it is missing
		s.peers["\x00"+node] = peer{seen: time.Now(), node: node}
	}
	return !released, nil
}

// Contact returns for how long none of our heartbeats was answered, and how far the clock of this
// machine is off.
func (s *Store) Contact() (c state.Contact) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.beaten.IsZero() {
		c = state.Contact{Silent: since(s.beaten), Ahead: s.ahead, Twin: s.twin}
	}
	return c
}

// since returns how long ago t was, by the clock that says more: one stands still while the machine
// sleeps, and the other may be set.
func since(t time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(t), now.Round(0).Sub(t.Round(0)))
}

// heard records that a heartbeat of ours was answered. After a while without an answer, it is
// unknown who else was heard of, so the time for all others begins now.
func (s *Store) heard(begun time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.beaten.IsZero() && since(s.beaten) > state.CutOff {
		for key, p := range s.peers {
			p.seen = time.Now()
			s.peers[key] = p
		}
	}
	s.beaten = begun
}

// look reads which runners live.
func (s *Store) look(ctx context.Context) error {
	s.mu.Lock()
	fresh := time.Since(s.asked) < time.Second && !s.asked.IsZero()
	s.mu.Unlock()
	if fresh {
		return nil
	}
	alive := map[string]bool{}
	released := map[string]bool{}
	err := s.patiently(ctx, func(ctx context.Context) error {
		clear(alive)
		_, err := s.kv.Prefix(ctx, hearts, 0, func(c Cell) bool {
			var r Runner
			alive[c.Key], released[c.Key] = len(c.Data) > 0, len(c.Data) == 0
			if len(c.Data) > 0 && decode(c, &r) == nil {
				s.mu.Lock()
				if s.peers[c.Key].rev != c.Rev {
					s.peers[c.Key] = peer{seen: time.Now(), rev: c.Rev, node: r.Leader.Ident.Node}
				}
				s.mu.Unlock()
			}
			return true
		})
		return err
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return err
	}
	s.asked = time.Now()
	for key, p := range s.peers {
		if p.released = released[key] && !alive[key]; p.released {
			s.peers[key] = p
		}
	}
	return nil
}

// pulse is a heartbeat and when it arrived.
type pulse struct {
	Runner
	came time.Time
}

// beats records a heartbeat, or that a runner has ended.
func (f *follower) beats(c Cell) {
	var r Runner
	if len(c.Data) == 0 || decode(c, &r) != nil {
		delete(f.pulses, c.Key)
		return
	}
	f.pulses[c.Key] = pulse{r, time.Now()}
}

// Rank returns the position of this machine among those that may begin an occurrence. Each machine
// has a weight for it, which all machines compute alike. So occurrences are spread evenly, and few
// move when a machine comes or goes.
func (s *Store) Rank(id string, due time.Time) (rank int) {
	f := s.followed.Load()
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n, _ := state.IDNumber(id)
	list, spread := f.spread[n]
	if !spread {
		return 0
	}
	on := f.lists[list]
	ours := weight(s.node.Name, id, due)
	for _, p := range f.pulses {
		begins := p.Name != s.node.Name && p.Free > 0 && time.Since(p.came) <= beatMost && p.Fits(on) && !f.drains[hashKey(drains, p.Name)]
		if begins && weight(p.Name, id, due) > ours {
			rank++
		}
	}
	return rank
}

// weight returns the weight of a machine for an occurrence.
func weight(node, id string, due time.Time) uint64 {
	sum := sha256.Sum256([]byte(node + " " + id + " " + strconv.FormatInt(due.UnixNano(), 10)))
	return binary.BigEndian.Uint64(sum[:])
}

// delivers returns a function that reports whether this node delivers the notices of a node: its
// own, and, when it is the first node with a runner, those of nodes without one.
func (s *Store) delivers(ctx context.Context) (func(node string) bool, error) {
	runners, err := s.Runners(ctx)
	if err != nil {
		return nil, err
	}
	first := len(runners) == 0 || runners[0].Name == s.node.Name
	return func(node string) bool {
		return node == s.node.Name || first && !slices.ContainsFunc(runners, func(r Runner) bool { return r.Name == node })
	}, nil
}
