package jet_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/nats"
	"github.com/ouro-timer/ouro-timer/state/fleet/natstest"
)

// TestReadersOfServersThatAreBehind: who reads is told all that was committed, also when each page comes from a server that has only the first messages yet.
func TestReadersOfServersThatAreBehind(t *testing.T) {
	const n = 900
	ctx := t.Context()
	servers := natstest.Start(t, 1, `mappings: { "$JS.API.DIRECT.GET.OURO_late": "pages" }`)
	kv := open(t, servers, "late", 1)
	var all []fleet.Cell
	for i := range n {
		c := fleet.Cell{Key: fmt.Sprintf("l.%c", 'a'+i%2), Rev: fleet.Any, Data: []byte(strconv.Itoa(i))}
		if err := kv.Commit(ctx, []fleet.Op{{Cell: c, Append: true}}); err != nil {
			t.Fatal(err)
		}
		c.Rev = uint64(i + 1)
		all = append(all, c)
	}
	has := make(chan uint64, 1) // the last revision that the server which answers has
	pages := hearPages(t, servers)
	go answerPages(t, pages, all, has)
	for _, last := range []uint64{0, 1, 100, n - 300, n - 1, n} {
		for _, prefix := range []string{"l.", "l.a"} {
			has <- last
			var want, got []string
			for _, c := range all {
				if prefix == "l." || c.Key == prefix {
					want = append(want, string(c.Data))
				}
			}
			collect := func(c fleet.Cell) bool {
				got = append(got, string(c.Data))
				return true
			}
			if end, err := kv.Prefix(ctx, prefix, 0, collect); err != nil || !slices.Equal(got, want) {
				t.Errorf("with %d of %d, %s has %d cells of %d up to %d: %v", last, n, prefix, len(got), len(want), end, err)
			}
			got = nil
			slices.Reverse(want)
			if end, err := kv.Backward(ctx, prefix, "l.", collect); err != nil || end != n || !slices.Equal(got, want) {
				t.Errorf("with %d of %d, %s has backwards %d cells of %d up to %d: %v", last, n, prefix, len(got), len(want), end, err)
			}
			<-has
		}
	}
}

// hearPages returns what a server is asked for pages, when its configuration passes that on to the subject "pages".
func hearPages(t *testing.T, servers *natstest.Servers) *nats.Inbox {
	t.Helper()
	conn, err := nats.Dial(t.Context(), nats.Options{Servers: []string{servers.URL()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	pages, err := conn.Listen(t.Context(), "pages", "")
	if err != nil {
		t.Fatal(err)
	}
	// this answer comes after the server knows who listens
	if _, err := conn.Request(t.Context(), nats.Msg{Subject: "nobody"}); !errors.Is(err, nats.ErrNobody) {
		t.Fatal(err)
	}
	return pages
}

// answerPages answers like a server of the stream that has no more cells than has says.
func answerPages(t *testing.T, in *nats.Inbox, all []fleet.Cell, has chan uint64) {
	for {
		m, err := in.Next(t.Context(), 0)
		if err != nil {
			return
		}
		var ask struct {
			Seq   uint64 `json:"seq"`
			Below string `json:"next_by_subj"`
			Batch int    `json:"batch"`
		}
		if err := json.Unmarshal(m.Data, &ask); err != nil {
			t.Error(err)
		}
		last := <-has
		has <- last
		var answer []nats.Msg
		for _, c := range all[:last] {
			subject := "OURO.late." + c.Key
			if c.Rev >= ask.Seq && len(answer) < ask.Batch && (ask.Below == subject || ask.Below == "OURO.late.l.>") {
				answer = append(answer, nats.Msg{Subject: m.Reply, Data: c.Data, Header: nats.Header{"Nats-Sequence": strconv.FormatUint(c.Rev, 10), "Nats-Subject": subject}})
			}
		}
		status := "204"
		if len(answer) == 0 {
			status = "404"
		}
		if err := in.Send(append(answer, nats.Msg{Subject: m.Reply, Header: nats.Header{"Status": status}})...); err != nil {
			t.Error(err)
		}
	}
}

// TestAnswersThatLack: an answer of which messages were lost on their way is no answer.
func TestAnswersThatLack(t *testing.T) {
	ctx := t.Context()
	servers := natstest.Start(t, 1, `mappings: { "$JS.API.DIRECT.GET.OURO_lack": "pages" }`)
	kv := open(t, servers, "lack", 1)
	var want []uint64
	for i := range 5 {
		if err := kv.Commit(ctx, []fleet.Op{{Cell: fleet.Cell{Key: fmt.Sprintf("d.%d", i), Data: []byte("x")}}}); err != nil {
			t.Fatal(err)
		}
		want = append(want, uint64(i+1))
	}
	pages := hearPages(t, servers)
	lost := make(chan uint64)
	go func() {
		for {
			m, err := pages.Next(ctx, 0)
			if err != nil {
				return
			}
			without, before := <-lost, "0"
			for _, rev := range want {
				this := strconv.FormatUint(rev, 10)
				h := nats.Header{"Nats-Sequence": this, "Nats-Subject": "OURO.lack.d." + this, "Nats-Last-Sequence": before}
				if before = this; rev != without {
					_ = pages.Send(nats.Msg{Subject: m.Reply, Data: []byte("x"), Header: h})
				}
			}
			_ = pages.Send(nats.Msg{Subject: m.Reply, Header: nats.Header{"Status": "204", "Nats-Last-Sequence": before}})
		}
	}()
	for _, without := range []uint64{0, 1, 3, 5} {
		var got []uint64
		go func() { lost <- without }()
		_, err := kv.Prefix(ctx, "d.", 0, func(c fleet.Cell) bool { got = append(got, c.Rev); return true })
		if whole := slices.Equal(got, want); whole != (without == 0) || whole != (err == nil) || !slices.Equal(got, want[:len(got)]) {
			t.Errorf("without %d: %v, %v", without, got, err)
		}
	}
}
