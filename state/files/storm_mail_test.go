package files

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// span is for how long a taker had an item, in Unix nanoseconds.
type span struct{ from, until int64 }

// stormLease is how long a taker has what it takes, on the clock of the storm's machine: less than it may live, so that what a dead one had is
// taken again.
const stormLease = 200 * time.Millisecond

// take takes items, and acknowledges some of them; of notices it postpones some and ends others, half of them in vain.
func (p *stormer) take() error {
	time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
	now := time.Now()
	until := now.Add(stormLease)
	items, _, problems, err := p.s.Take(ctx, state.Query{Limit: 1 + rand.IntN(6)}, now, until)
	if err != nil || len(problems) > 0 {
		return fmt.Errorf("%w %v", err, problems)
	}
	for _, i := range items {
		p.tell("took %s %d %d", i.ID, now.UnixNano(), until.UnixNano())
		if rand.IntN(3) == 0 {
			continue
		}
		p.tell("acking %s", i.ID)
		if err := p.s.Ack(ctx, []string{i.ID})[0]; err == nil {
			p.tell("acked %s", i.ID)
		} else if !errors.Is(err, state.ErrNotFound) {
			return err
		}
	}
	due, _, problems, err := p.s.Outbox(ctx, day2, 4)
	if err != nil || len(problems) > 0 {
		return fmt.Errorf("%w %v", err, problems)
	}
	for _, n := range due {
		if rand.IntN(3) == 0 {
			n.Due, n.Attempts, n.Last = n.Due.Add(time.Minute), n.Attempts+1, fmt.Sprint("error ", n.Attempts)
			err = p.s.Postpone(ctx, n)
		} else {
			l := state.Line{At: day1, Delivered: true}
			if rand.IntN(2) == 0 {
				l = state.Line{At: day1, Reason: "refused", Inbox: state.ItemUndelivered}
			}
			err = p.s.Told(ctx, n, l)
		}
		if err != nil && !errors.Is(err, state.ErrNotFound) {
			return err
		}
	}
	return nil
}

// stormLine is how an occurrence ends: some end with an item and a notice.
func stormLine(r state.Record) state.Line {
	l := state.Line{At: r.Due, Outcome: state.OK}
	if rand.IntN(2) == 0 {
		l = state.Line{At: r.Due, Outcome: state.Failed, Inbox: state.ItemFailure, Tell: []string{"desktop"}}
	}
	return l
}

// mail holds the inbox and the outbox against the ledger: each line that makes an item has it, or somebody was about to acknowledge it, each
// notice is there or was told of, and no two had an item at once.
func (c *aftermath) mail() {
	t := c.t
	items, _, problems, err := c.s.Inbox(ctx, state.Query{})
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	there := map[string]bool{}
	for _, i := range items {
		if there[i.ID] {
			t.Errorf("item %s is there twice", i.ID)
		}
		there[i.ID] = true
		c.items++
	}
	due, _, problems, err := c.s.Outbox(ctx, day2.AddDate(1, 0, 0), 0)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	told := map[string]int{} // or still to be
	for _, n := range due {
		told[n.ID()]++
		c.notices++
	}
	made := map[string]bool{}
	notices := 0
	for _, l := range c.lines {
		if l.Type == state.LineDelivery {
			c.delivered++
			told[state.OccurrenceID(l.TaskID, l.Number)]++
		}
		notices += len(l.Tell)
		if l.Inbox == "" {
			continue
		}
		id := state.ItemID(l)
		if made[id] = true; there[id] == c.acked[id] && !(c.acking[id] && !there[id]) {
			t.Errorf("item %s is there: %v, and acknowledged: %v", id, there[id], c.acked[id])
		}
	}
	for id := range there {
		if !made[id] {
			t.Errorf("item %s is in no line of the ledger", id)
		}
	}
	if len(told) != notices {
		t.Errorf("%d occurrences were told of or are to be, and %d should have been", len(told), notices)
	}
	for id, n := range told {
		if n != 1 {
			t.Errorf("%s was told of and is to be %d times", id, n)
		}
	}
	for id, spans := range c.taken {
		slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
		for i := range spans[1:] {
			if spans[i].until > spans[i+1].from {
				t.Errorf("two had item %s at once: %v", id, spans)
			}
		}
	}
}
