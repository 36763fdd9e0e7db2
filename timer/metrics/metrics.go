// Package metrics counts the tasks of a store, what came of them, and how its runner is, for
// programs that monitor machines. It changes nothing, and publishes no text of a task, no channel
// and no path.
package metrics

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// Source is where Collect gets its numbers.
type Source struct {
	Store state.Store
	Now   func() time.Time
	// Version and Go are the version of the program and of its compiler.
	Version, Go string
	Totals      *Totals
}

// Collect returns all metrics. It returns an error if the store cannot be read. It only counts
// pieces of state that cannot be read (ouro_timer_state_problems).
func (s Source) Collect(ctx context.Context) ([]Family, error) {
	c := collection{Source: s, now: s.Now()}
	c.put("build_info", Gauge, "The program that these numbers are from; always 1.", Sample{Labels: Labels{"version": s.Version, "goversion": s.Go}, Value: 1})
	for _, collect := range []func(context.Context) error{c.tasks, c.ledger, c.outbox, c.inbox, c.runner, c.state} {
		if err := collect(ctx); err != nil {
			return nil, err
		}
	}
	return c.families, nil
}

// collection is what one Collect has read so far.
type collection struct {
	Source
	now      time.Time
	families []Family
	problems []state.Problem // the pieces of state that could not be read
}

// put adds a metric.
func (c *collection) put(name string, kind Type, help string, samples ...Sample) {
	c.families = append(c.families, Family{"ouro_timer_" + name, kind, help, samples})
}

// tasks counts the tasks by phase, and those that are overdue.
func (c *collection) tasks(ctx context.Context) error {
	var tasks []Sample
	overdue, oldest := 0, time.Duration(0)
	for _, phase := range []state.Phase{state.Pending, state.Running, state.Paused, state.Ended, state.Removed} {
		l, err := c.Store.List(ctx, phase)
		if err != nil {
			return err
		}
		c.problems = append(c.problems, l.Problems...)
		tasks = append(tasks, Sample{Labels: Labels{"state": string(phase)}, Value: float64(l.Len)})
		for i := 0; phase == state.Pending && i < l.Len; i++ {
			if at := l.Wake(i); !at.IsZero() && at.Before(c.now) {
				overdue, oldest = overdue+1, max(oldest, c.now.Sub(at))
			}
		}
	}
	next, some, err := state.Next(ctx, c.Store, time.Time{})
	if err != nil {
		return err
	}
	c.put("tasks", Gauge, "Tasks by their state, as ls shows them.", tasks...)
	c.put("tasks_overdue", Gauge, "Pending tasks whose instant has passed: nobody has begun them.", count(overdue))
	c.put("overdue_max_seconds", Gauge, "How long ago the instant of the first of them was; 0 without any.", Sample{Value: oldest.Seconds()})
	if some {
		c.put("next_due_timestamp_seconds", Gauge, "When a runner has to do something next; absent when nothing is pending.", instant(next))
	}
	return nil
}

// ledger puts the sums of the whole ledger.
func (c *collection) ledger(ctx context.Context) error {
	sums, bad, err := c.Totals.Read(ctx, c.Store)
	if err != nil {
		return err
	}
	c.problems = append(c.problems, bad...)
	c.put("occurrences_total", Counter, "Instants of schedules that have ended, by outcome, since the ledger's beginning.", outcomes(sums.Occurrences)...)
	c.put("manual_runs_total", Counter, "Runs by hand (fire) that have ended, by outcome, since the ledger's beginning.", outcomes(sums.Manual)...)
	c.put("lateness_seconds", Histogram, "By how much occurrences were started after their instant, since the ledger's beginning.",
		histogram(state.LateBounds[:], sums.Late.Counts[:], sums.Late.Sum)...)
	c.put("run_duration_seconds", Histogram, "How long commands took that have ended, attempts and pauses included, since the ledger's beginning.",
		histogram(state.TookBounds[:], sums.Took.Counts[:], sums.Took.Sum)...)
	c.put("deliveries_total", Counter, "Notices that were delivered, or given up, since the ledger's beginning.",
		Sample{Labels: Labels{"result": "delivered"}, Value: float64(sums.Deliveries.Delivered)}, Sample{Labels: Labels{"result": "failed"}, Value: float64(sums.Deliveries.Failed)})
	c.put("delivery_attempts_total", Counter, "Attempts that were made at those notices.", Sample{Value: float64(sums.Deliveries.Attempts)})
	return nil
}

// outbox counts the notices that wait.
func (c *collection) outbox(ctx context.Context) error {
	notices, _, bad, err := c.Store.Outbox(ctx, state.EndOfTime, 0)
	if err != nil {
		return err
	}
	c.problems = append(c.problems, bad...)
	tried := 0
	for _, n := range notices {
		if n.Attempts > 0 {
			tried++
		}
	}
	c.put("deliveries_waiting", Gauge, "Notices that wait to be delivered.", count(len(notices)))
	c.put("deliveries_retrying", Gauge, "Those of them that could not be delivered yet, and are tried again.", count(tried))
	return nil
}

// inbox counts the items.
func (c *collection) inbox(ctx context.Context) error {
	items, more, bad, err := c.Store.Inbox(ctx, state.Query{Limit: 1, Now: c.now})
	if err != nil {
		return err
	}
	c.problems = append(c.problems, bad...)
	dropped, err := c.Store.Dropped(ctx)
	if err != nil {
		return err
	}
	c.put("inbox_items", Gauge, "Items of the inbox that nobody has acknowledged.", count(len(items)+more))
	c.put("inbox_dropped_total", Counter, "Items of the inbox that were forgotten although nobody had acknowledged them.", count(dropped.Items))
	return nil
}

// runner puts what is known of the leader.
func (c *collection) runner(ctx context.Context) error {
	leader, led, err := runner.Led(ctx, c.Store)
	if err != nil {
		return err
	}
	up := 0
	if led && !runner.Suspended(leader.Ident) {
		up = 1
	}
	c.put("runner_up", Gauge, "1 while a runner lives that does what is due, else 0; also 0 when it was stopped by a signal.", count(up))
	if led && !leader.Since.IsZero() {
		c.put("runner_start_time_seconds", Gauge, "Since when that runner does so; absent without one.", instant(leader.Since))
	}
	c.put("runner_put_off_tasks", Gauge, "Tasks that the runner cannot start for now, and tries again.", count(len(leader.Delays)))
	trouble, err := c.Store.Trouble(ctx)
	if err != nil {
		return err
	}
	if !trouble.At.IsZero() {
		c.put("runner_trouble_timestamp_seconds", Gauge, "When a runner in the background last had trouble of its own (doctor says which); absent when nothing is known.", instant(trouble.At))
	}
	return nil
}

// state counts what cannot be read. It comes last, after the others have noted their problems.
func (c *collection) state(ctx context.Context) error {
	quarantined, err := c.Store.Quarantined(ctx)
	if err != nil {
		return err
	}
	c.put("state_problems", Gauge, "Pieces of state that cannot be read, those that were set aside among them; doctor says which.", count(len(quarantined)+distinct(c.problems)))
	return nil
}

// count is a sample without labels.
func count(n int) Sample { return Sample{Value: float64(n)} }

// instant is a sample of an instant in seconds since 1970.
func instant(t time.Time) Sample { return Sample{Value: float64(t.UnixMilli()) / 1000} }

// distinct counts problems that differ.
func distinct(list []state.Problem) int {
	seen := map[string]bool{}
	for _, p := range list {
		seen[p.Error()] = true
	}
	return len(seen)
}

// outcomes makes a sample of each outcome.
func outcomes(counts state.Outcomes) (list []Sample) {
	for what, n := range counts.Each {
		list = append(list, Sample{Labels: Labels{"outcome": string(what)}, Value: float64(n)})
	}
	return list
}

// histogram makes the samples of a histogram. counts[i] is how many values are at most bounds[i]
// and greater than the bound before. The last count has no bound.
func histogram(bounds []float64, counts []int64, sum float64) (list []Sample) {
	total := int64(0)
	for i, n := range counts {
		le := "+Inf"
		if i < len(bounds) {
			le = number(bounds[i])
		}
		total += n
		list = append(list, Sample{"_bucket", Labels{"le": le}, float64(total)})
	}
	return append(list, Sample{"_sum", nil, sum}, Sample{"_count", nil, float64(total)})
}
