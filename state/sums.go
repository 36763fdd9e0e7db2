package state

import "time"

// Sums are what lines of the ledger add up to. They are kept of those that were dropped (Gone), so that what is counted from the
// ledger never goes down.
type Sums struct {
	Occurrences Outcomes   `toml:"occurrences"` // instants of schedules, by how they ended
	Manual      Outcomes   `toml:"manual"`      // runs by hand
	Deliveries  Deliveries `toml:"deliveries"`
	Late        Lateness   `toml:"late"` // of the occurrences that were started: start minus due
	Took        Spans      `toml:"took"` // of the commands that have ended, by hand as well: from the first start to the end, attempts and pauses included
}

// Outcomes count by outcome.
type Outcomes struct {
	OK          int64 `toml:"ok"`
	Failed      int64 `toml:"failed"`
	TimedOut    int64 `toml:"timeout"`
	Interrupted int64 `toml:"interrupted"`
	Missed      int64 `toml:"missed"`
	Skipped     int64 `toml:"skipped"`
	Cancelled   int64 `toml:"cancelled"`
}

// Deliveries count notices that have ended, and the attempts that were made of them.
type Deliveries struct {
	Delivered int64 `toml:"delivered"`
	Failed    int64 `toml:"failed"`
	Attempts  int64 `toml:"attempts"`
}

// LateBounds and TookBounds are the upper bounds of the counts of Lateness and Spans, in seconds; the last count has no bound. They
// are for ever: sums that were kept go by them.
var (
	LateBounds = [...]float64{0.005, 0.05, 0.5, 5, 60, 600, 3600, 6 * 3600, 24 * 3600}
	TookBounds = [...]float64{0.1, 1, 5, 30, 60, 300, 900, 3600, 6 * 3600, 24 * 3600}
)

// Lateness counts seconds by LateBounds: each under the first bound that it does not exceed.
type Lateness struct {
	Counts [len(LateBounds) + 1]int64 `toml:"counts"`
	Sum    float64                    `toml:"sum"`
}

// Spans counts seconds by TookBounds, as Lateness does.
type Spans struct {
	Counts [len(TookBounds) + 1]int64 `toml:"counts"`
	Sum    float64                    `toml:"sum"`
}

// Count adds a line of the ledger.
func (s *Sums) Count(l Line) {
	n := int64(max(l.Count, 1))
	switch l.Type {
	case LineOccurrence:
		s.Occurrences.add(l.Outcome, n)
		if l.Started != nil {
			add(LateBounds[:], s.Late.Counts[:], &s.Late.Sum, l.Late)
		}
	case LineManual:
		s.Manual.add(l.Outcome, n)
	case LineDelivery:
		s.Deliveries.Attempts += int64(l.Attempts)
		if l.Delivered {
			s.Deliveries.Delivered++
		} else {
			s.Deliveries.Failed++
		}
		return
	default:
		return
	}
	if l.Started != nil && l.Ended != nil && (l.ExitCode != nil || l.Signal != "" || l.Outcome == TimedOut) {
		add(TookBounds[:], s.Took.Counts[:], &s.Took.Sum, l.Ended.Sub(*l.Started).Seconds())
	}
}

// Add adds other sums.
func (s *Sums) Add(o Sums) {
	s.Occurrences.addAll(o.Occurrences)
	s.Manual.addAll(o.Manual)
	s.Deliveries.Delivered += o.Deliveries.Delivered
	s.Deliveries.Failed += o.Deliveries.Failed
	s.Deliveries.Attempts += o.Deliveries.Attempts
	for i, n := range o.Late.Counts {
		s.Late.Counts[i] += n
	}
	for i, n := range o.Took.Counts {
		s.Took.Counts[i] += n
	}
	s.Late.Sum += o.Late.Sum
	s.Took.Sum += o.Took.Sum
}

// add counts seconds. A clock that was set meanwhile makes no negative ones.
func add(bounds []float64, counts []int64, sum *float64, seconds float64) {
	seconds = max(seconds, 0)
	i := 0
	for i < len(bounds) && seconds > bounds[i] {
		i++
	}
	counts[i]++
	*sum += seconds
}

// of is the count of an outcome; nil for a word that is none.
func (o *Outcomes) of(what Outcome) *int64 {
	switch what {
	case OK:
		return &o.OK
	case Failed:
		return &o.Failed
	case TimedOut:
		return &o.TimedOut
	case Interrupted:
		return &o.Interrupted
	case Missed:
		return &o.Missed
	case Skipped:
		return &o.Skipped
	case Cancelled:
		return &o.Cancelled
	}
	return nil
}

func (o *Outcomes) add(what Outcome, n int64) {
	if count := o.of(what); count != nil {
		*count += n
	}
}

func (o *Outcomes) addAll(of Outcomes) {
	for what, n := range of.Each {
		o.add(what, n)
	}
}

// Each yields every outcome that there is, in one order, with its count.
func (o Outcomes) Each(yield func(Outcome, int64) bool) {
	for _, what := range []Outcome{OK, Failed, TimedOut, Interrupted, Missed, Skipped, Cancelled} {
		if !yield(what, *o.of(what)) {
			return
		}
	}
}

// Gone is what Prune has dropped of the ledger, all in all: its beginning.
type Gone struct {
	Lines int       `toml:"lines"`
	Until time.Time `toml:"until"` // when the latest of them was written
	// Sums are what the lines add up to, but for those that were dropped by a version that did not count so.
	Sums Sums `toml:"sums"`
	// To is where in the ledger the line after them begins; the zero value is its beginning.
	To Place `toml:"-"`
}
