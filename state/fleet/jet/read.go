package jet

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/nats"
)

const (
	pageMost  = 1000    // messages that are asked for at once
	bytesMost = 8 << 20 // and bytes of them
)

// page yields messages below a prefix from a sequence on, oldest first, as one server of the stream
// has them, and returns how many there were. It may not have the newest.
func (k *KV) page(ctx context.Context, prefix string, from uint64, most int, yield func(fleet.Cell) bool) (n int, err error) {
	ask := map[string]any{"seq": max(from, 1), "next_by_subj": k.subject(prefix), "batch": most, "max_bytes": bytesMost}
	return k.directGet(ctx, ask, yield)
}

// Peek implements fleet.KV: any server of the stream answers. One key is a plain request.
func (k *KV) Peek(ctx context.Context, keys ...string) (list []fleet.Cell, err error) {
	if len(keys) == 1 {
		answer, err := k.request(ctx, nats.Msg{Subject: "$JS.API.DIRECT.GET." + k.stream + "." + k.subject(keys[0])})
		if err != nil || answer.Header["Status"] == "404" {
			return nil, err
		}
		c, err := k.cell(answer)
		return []fleet.Cell{c}, err
	}
	for some := range slices.Chunk(keys, pageMost) {
		subjects := make([]string, len(some))
		for i, key := range some {
			subjects[i] = k.subject(key)
		}
		_, err = k.directGet(ctx, map[string]any{"multi_last": subjects}, func(c fleet.Cell) bool {
			list = append(list, c)
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// errLacks: messages of an answer were lost between servers.
var errLacks = errors.New("the answer of a server is not whole")

// directGet sends a request to any one server of the stream. It yields the messages of the answer,
// and returns how many there were. It is errLacks once one is missing.
func (k *KV) directGet(ctx context.Context, question any, yield func(fleet.Cell) bool) (n int, err error) {
	ask, err := json.Marshal(question)
	if err != nil {
		return 0, err
	}
	inbox, err := k.nc.Inbox(ctx)
	if err != nil {
		return 0, err
	}
	defer inbox.Close()
	if err := inbox.Send(nats.Msg{Subject: "$JS.API.DIRECT.GET." + k.stream, Reply: inbox.Name, Data: ask}); err != nil {
		return 0, err
	}
	for at := uint64(0); ; {
		m, err := inbox.Next(ctx, requestLimit)
		if err != nil {
			return n, fleetError(m, err)
		}
		if before := m.Header["Nats-Last-Sequence"]; before != "" && before != decimal(at) {
			return n, errLacks
		}
		if status := m.Header["Status"]; status == "204" || status == "404" {
			return n, nil
		}
		c, err := k.cell(m)
		if err != nil {
			return n, err
		}
		at = c.Rev
		if n++; !yield(c) {
			return n, nil
		}
	}
}

// Prefix implements fleet.KV. The leader says which message is the last. The first page comes from
// any server of the stream, and the rest through a consumer, because a server counts all remaining
// messages for each page.
func (k *KV) Prefix(ctx context.Context, prefix string, after uint64, yield func(fleet.Cell) bool) (last uint64, err error) {
	end, err := k.Get(ctx, prefix)
	if err != nil || end.Rev <= after {
		return end.Rev, err
	}
	// The prefix is one key, which has only its last cell.
	if prefix == end.Key && after == 0 && !strings.HasPrefix(prefix, "l.") {
		yield(end)
		return end.Rev, nil
	}
	at, stopped := after, false
	_, err = k.page(ctx, prefix, at+1, pageMost, func(c fleet.Cell) bool {
		at = c.Rev
		stopped = !yield(c)
		return !stopped
	})
	if err != nil || stopped || at >= end.Rev {
		return end.Rev, err
	}
	return end.Rev, k.rest(ctx, prefix, at, end.Rev, yield)
}

// rest yields what there is below a prefix after one revision and up to another, which may be gone.
func (k *KV) rest(ctx context.Context, prefix string, after, last uint64, yield func(fleet.Cell) bool) error {
	over := false
	c := &consumer{k: k, at: after, filters: []string{k.subject(prefix)}, tell: func(c fleet.Cell) { over = !yield(c) }}
	defer c.end()
	for {
		if err := c.begin(ctx); err != nil {
			return err
		}
		c.follow(ctx, func(idle bool) bool { return idle || over || c.at >= last })
		if over || c.at >= last {
			return nil
		}
		// Nothing comes: the last message may have been dropped.
		end, err := k.Get(ctx, prefix)
		if err != nil || end.Rev <= c.at {
			return err
		}
	}
}

// Backward implements fleet.KV. It reads windows of sequences, the newest first, each of them
// forwards. The window grows where few messages are found, and shrinks where there are many. A page
// comes from any server of the stream, and what that one lacks through a consumer.
func (k *KV) Backward(ctx context.Context, prefix, within string, yield func(fleet.Cell) bool) (last uint64, err error) {
	end, err := k.Get(ctx, within)
	if err != nil || end.Rev == 0 {
		return end.Rev, err
	}
	last = end.Rev
	if prefix != within {
		if end, err = k.Get(ctx, prefix); err != nil {
			return last, err
		}
	}
	for high, size := end.Rev, uint64(256); high > 0; {
		low := uint64(1)
		if high > size {
			low = high - size + 1
		}
		found, whole, err := k.window(ctx, prefix, low, high)
		if err != nil {
			return last, err
		}
		if !whole {
			size = max(size/16, 1)
			continue
		}
		for _, c := range slices.Backward(found) {
			if c.Rev <= last && !yield(c) {
				return last, nil
			}
		}
		if high = low - 1; len(found) < pageMost/2 {
			size *= 4
		}
	}
	return last, nil
}

// window returns the messages below a prefix from low to high. It is not whole when there are too
// many.
func (k *KV) window(ctx context.Context, prefix string, low, high uint64) (found []fleet.Cell, whole bool, err error) {
	after := low - 1
	take := func(c fleet.Cell) bool {
		after = c.Rev
		if c.Rev <= high {
			found = append(found, c)
		}
		return c.Rev < high
	}
	for after < high {
		n, err := k.page(ctx, prefix, after+1, pageMost/4, take)
		switch {
		case err != nil:
			return nil, false, err
		case len(found) > 4*pageMost && high > low:
			return nil, false, nil
		case n > 0:
			continue
		}
		// The server that has answered has none at the end of the window or beyond: it is behind,
		// unless they were dropped.
		end, err := k.Get(ctx, prefix)
		if err == nil && end.Rev >= high {
			err = k.rest(ctx, prefix, after, high, take)
		}
		return found, true, err
	}
	return found, true, nil
}

const (
	heartbeat = time.Second
	silence   = 3 * heartbeat // after which a consumer counts as gone
)

// Watch implements fleet.KV with a consumer. When the consumer falls silent or a message is
// missing, another consumer continues from there.
func (k *KV) Watch(ctx context.Context, after uint64, tell func(fleet.Cell), prefixes ...string) error {
	if after == fleet.Now {
		last, err := k.Get(ctx, "")
		if err != nil {
			return err
		}
		after = last.Rev
	}
	c := &consumer{k: k, at: after, tell: tell}
	for _, p := range prefixes {
		c.filters = append(c.filters, k.subject(p))
	}
	if err := c.begin(ctx); err != nil {
		return err
	}
	go func() {
		for ctx.Err() == nil {
			c.follow(ctx, func(bool) bool { return false })
			for ctx.Err() == nil && c.begin(ctx) != nil {
				select {
				case <-ctx.Done():
				case <-time.After(100 * time.Millisecond):
				}
			}
		}
		c.end()
	}()
	return nil
}

type consumer struct {
	k       *KV
	filters []string
	at      uint64 // the last sequence that was told of
	heard   uint64 // how many messages came of this consumer
	tell    func(fleet.Cell)
	inbox   *nats.Inbox
}

// begin creates a consumer that starts where the previous one ended.
func (c *consumer) begin(ctx context.Context) (err error) {
	c.end()
	name := rand.Text()
	if c.inbox, err = c.k.nc.Listen(ctx, "_INBOX."+name, ""); err != nil {
		return err
	}
	c.heard = 0
	ask := map[string]any{"stream_name": c.k.stream, "action": "create", "config": map[string]any{
		"name": name, "deliver_subject": c.inbox.Name, "deliver_policy": "by_start_sequence", "opt_start_seq": c.at + 1, "filter_subjects": c.filters,
		"ack_policy": "none", "max_deliver": 1, "flow_control": true, "idle_heartbeat": heartbeat, "inactive_threshold": 10 * heartbeat, "mem_storage": true, "num_replicas": 1,
	}}
	if err = c.k.api(ctx, "CONSUMER.CREATE."+c.k.stream+"."+name, ask, &struct{}{}); err != nil {
		c.end()
	}
	return err
}

// end closes the inbox of the consumer. The server drops the consumer when nobody listens.
func (c *consumer) end() {
	if c.inbox != nil {
		c.inbox.Close()
		c.inbox = nil
	}
}

// follow passes messages to tell until one is missing or done returns true, which it calls after
// each message. idle means that none came for a while.
func (c *consumer) follow(ctx context.Context, done func(idle bool) bool) {
	idle := false
	for !done(idle) {
		m, err := c.inbox.Next(ctx, silence)
		if err != nil {
			return
		}
		if m.Header["Status"] != "" { // a heartbeat, or the question whether more can come
			to := cmp.Or(m.Reply, m.Header["Nats-Consumer-Stalled"])
			if idle = to == ""; !idle {
				_ = c.inbox.Send(nats.Msg{Subject: to})
			}
			if last := m.Header["Nats-Last-Consumer"]; last != "" && last != decimal(c.heard) {
				return
			}
			continue
		}
		idle = false
		stream, number, ok := sequences(m.Reply)
		if !ok || number != c.heard+1 {
			return
		}
		c.heard, c.at = number, stream
		c.k.leader.saw(stream)
		c.tell(fleet.Cell{Key: m.Subject[len(c.k.root):], Rev: c.at, Data: m.Data, Nonces: m.Header[nonceHeader]})
	}
}

// sequences returns the sequences of a message in the stream and in the consumer, from the subject
// of its ack. That is $JS.ACK, perhaps a domain and an account, the names of stream and consumer,
// the number of deliveries, and the two sequences.
func sequences(ack string) (stream, consumer uint64, ok bool) {
	words := strings.Split(ack, ".")
	at := 5
	if len(words) > 9 {
		at = 7
	}
	if len(words) < at+2 {
		return 0, 0, false
	}
	stream, err := strconv.ParseUint(words[at], 10, 64)
	consumer, also := strconv.ParseUint(words[at+1], 10, 64)
	return stream, consumer, err == nil && also == nil
}
