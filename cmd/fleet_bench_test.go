//go:build unix

package cmd

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// BenchmarkFleetRunners is how late commands begin in a fleet of two runners over three servers that wait for the disk: in calm, and of what a killed runner had
// not claimed: go test -bench FleetRunners -run NONE ./cmd
func BenchmarkFleetRunners(b *testing.B) {
	f, servers := newFleet(b)
	var nodes []*node
	for i := range 2 {
		n := newNode(b, servers, i)
		n.ahead = 0
		nodes = append(nodes, n)
		n.up(f)
	}
	f.home = nodes[1].home
	tidyUp(b, f.home, f.out)
	living := func(want int) {
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if list, err := f.store.Runners(b.Context()); err == nil && len(list) == want {
				return
			}
		}
		b.Fatalf("there are not %d runners", want)
	}
	late := func(b *testing.B, begin time.Time) (list []float64) {
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			if _, pending, err := state.Next(b.Context(), f.st, time.Time{}); err == nil && !pending {
				break
			}
		}
		_, _, err := f.st.Log(b.Context(), "", func(l state.Line) bool {
			if l.Started != nil && l.Due != nil && l.Due.After(begin) {
				list = append(list, l.Started.Sub(*l.Due).Seconds()*1000)
			}
			return true
		})
		if err != nil || len(list) == 0 {
			b.Fatal(len(list), err)
		}
		slices.Sort(list)
		return list
	}
	add := func(n int, apart time.Duration) (begin time.Time) {
		begin = time.Now().Add(time.Second).Round(0)
		task := state.Task{Created: begin, On: []string{state.AnyNode}, When: state.Timing{Text: "in 1s", Kind: "once", Zone: "UTC", Start: begin}, Run: state.Job{Argv: []string{"true"}, Dir: "/", Umask: 0o22}}
		drafts := make([]state.Draft, n)
		for i := range drafts {
			drafts[i] = state.Draft{Task: task, Due: begin.Add(time.Duration(i+1) * apart)}
		}
		for _, a := range f.st.AddAll(b.Context(), drafts) {
			if a.Err != nil {
				b.Fatal(a.Err)
			}
		}
		return begin
	}
	report := func(b *testing.B, list []float64) {
		b.ReportMetric(list[len(list)/2], "p50-ms")
		b.ReportMetric(list[len(list)*99/100], "p99-ms")
		b.ReportMetric(list[len(list)-1], "worst-ms")
		b.ReportMetric(0, "ns/op")
	}
	living(2)
	b.Run("calm", func(b *testing.B) {
		var all []float64
		for b.Loop() {
			all = late(b, add(200, 50*time.Millisecond))
		}
		report(b, all)
	})
	b.Run("one is killed", func(b *testing.B) {
		var all []float64
		for b.Loop() {
			living(2)
			begin := add(40, 50*time.Millisecond)
			time.Sleep(time.Until(begin.Add(time.Second)))
			nodes[0].down(syscall.SIGKILL)
			killed := time.Now()
			time.Sleep(2 * time.Second)
			nodes[0].up(f)
			// What was due within 50 ms it may have claimed.
			all = append(all, late(b, killed.Add(100*time.Millisecond))...)
		}
		slices.Sort(all)
		report(b, all)
	})
	for _, n := range nodes {
		n.down(syscall.SIGTERM)
	}
}
