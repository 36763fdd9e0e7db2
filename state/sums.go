package state

import "time"

// Sums are totals over lines of the ledger. Those of dropped lines are kept (Gone), so that what is
// counted from the ledger never goes down.
type Sums struct {
	Occurrences Outcomes   `toml:"occurrences"` // instants of schedules, by outcome
	Manual      Outcomes   `toml:"manual"`      // runs by hand
	Deliveries  Deliveries `toml:"deliveries"`
	Late        Lateness   `toml:"late"` // start minus due, of the occurrences that were started
	// Took is from the first start of a command to its end, with all attempts and pauses. Manual
	// runs count, too.
	Took Spans `toml:"took"`
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

// Deliveries count the notices that have ended, and the attempts at them.
type Deliveries struct {
	Delivered int64 `toml:"delivered"`
	Failed    int64 `toml:"failed"`
	Attempts  int64 `toml:"attempts"`
}

// LateBounds and TookBounds are the upper bounds of the counts of Lateness and Spans, in seconds.
// The last count has no bound. They can never change, because stored sums use them.
var (
	LateBounds = [...]float64{0.005, 0.05, 0.5, 5, 60, 600, 3600, 6 * 3600, 24 * 3600}
	TookBounds = [...]float64{0.1, 1, 5, 30, 60, 300, 900, 3600, 6 * 3600, 24 * 3600}
)

// Lateness counts seconds by LateBounds, each in the first count whose bound it does not exceed.
type Lateness struct {
	Counts [len(LateBounds) + 1]int64 `toml:"counts"`
	Sum    float64                    `toml:"sum"`
}

// Spans counts seconds by TookBounds in the same way.
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

// add counts seconds. Negative ones, from a clock that was set meanwhile, count as none.
func add(bounds []float64, counts []int64, sum *float64, seconds float64) {
	seconds = max(seconds, 0)
	i := 0
	for i < len(bounds) && seconds > bounds[i] {
		i++
	}
	counts[i]++
	*sum += seconds
}

// of returns the count of an outcome, or nil for another word.
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

// Each yields every outcome with its count, always in the same order.
func (o Outcomes) Each(yield func(Outcome, int64) bool) {
	for _, what := range []Outcome{OK, Failed, TimedOut, Interrupted, Missed, Skipped, Cancelled} {
		if !yield(what, *o.of(what)) {
			return
		}
	}
}

// Gone counts what Prune has dropped from the ledger's beginning, all in all.
type Gone struct {
	Lines int       `toml:"lines"`
	Until time.Time `toml:"until"` // when the latest dropped line was written
	// Sums are the totals over the dropped lines, except those dropped by a version that did not
	// count them.
	Sums Sums `toml:"sums"`
	// To is where the first line that is left begins. The zero value is the ledger's beginning.
	To Place `toml:"-"`
}
