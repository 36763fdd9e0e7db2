package cmd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/state/fleet/nats"
	"github.com/ouro-timer/ouro-timer/state/fleet/natstest"
	"github.com/ouro-timer/ouro-timer/state/memory"
)

// BenchmarkFleetSizes is what tasks, runs and their outputs take on a server, and what a runner takes
// with many tasks: go test -bench FleetSizes -benchtime 1x -run NONE -timeout 1h ./cmd
// OURO_TEST_MANY=20000 says how many.
func BenchmarkFleetSizes(b *testing.B) {
	const some, runs, output = 1000, 200, 1000
	many, err := strconv.Atoi(cmp.Or(os.Getenv("OURO_TEST_MANY"), "100000"))
	if err != nil {
		b.Fatal(err)
	}
	program := filepath.Join(b.TempDir(), "ouro-timer")
	if out, err := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", program, "..").CombinedOutput(); err != nil {
		b.Skipf("Go cannot build the program: %v: %s", err, out)
	}
	servers := natstest.Start(b, 1)
	kv, err := jet.Open(b.Context(), jet.Options{URL: servers.URL()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(kv.Close)
	if err := initFleet(b.Context(), kv, 1); err != nil {
		b.Fatal(err)
	}
	st := fleet.New(kv, fleet.Options{Local: memory.New(), Patience: time.Minute})
	conn, err := nats.Dial(b.Context(), nats.Options{Servers: []string{servers.URL()}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(conn.Close)
	home := filepath.Join(b.TempDir(), "home")
	tidyUp(b, home)
	call := func(input string, args ...string) *exec.Cmd {
		c := exec.Command(program, args...)
		c.Env = []string{"HOME=" + home, "OURO_HOME=" + home, "OURO_STORE=" + servers.URL(), "PATH=" + os.Getenv("PATH"), "TZ=UTC", "LANG=C.UTF-8"}
		c.Stdin = strings.NewReader(input)
		return c
	}
	add := func(n int, line string, args ...string) {
		b.Helper()
		c := call(strings.Repeat(line+"\n", n), append([]string{"at", "-q", "--no-autostart", "--stdin"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	size := func(stream string) float64 {
		b.Helper()
		m, err := conn.Request(b.Context(), nats.Msg{Subject: "$JS.API.STREAM.INFO." + stream, Data: []byte("{}")})
		var info struct {
			State struct {
				Bytes float64 `json:"bytes"`
			} `json:"state"`
		}
		if err == nil {
			err = json.Unmarshal(m.Data, &info)
		}
		if err != nil {
			b.Fatal(err)
		}
		return info.State.Bytes
	}
	until := func(what string, so func() bool) {
		b.Helper()
		for end := time.Now().Add(10 * time.Minute); !so(); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				b.Fatal("not so after 10 minutes: ", what)
			}
		}
	}
	lives := func(want bool) func() bool {
		return func() bool {
			list, err := st.Runners(b.Context())
			return err == nil && (len(list) > 0) == want
		}
	}
	up := func() *exec.Cmd {
		b.Helper()
		c := call("", "run")
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		until("the runner lives", lives(true))
		return c
	}
	down := func(c *exec.Cmd) {
		b.Helper()
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
		until("the runner has ended", lives(false))
	}
	for b.Loop() {
		before := size("OURO_ouro")
		add(some, `{"when":"2030-01-01T09:00:00Z","task":"call Bob"}`, "jsonl")
		message := size("OURO_ouro")
		b.ReportMetric((message-before)/some, "B/message")
		add(some, `{"when":"every day at 9am","command":["make","-C","site","backup"]}`, "jsonl")
		command := size("OURO_ouro")
		b.ReportMetric((command-message)/some, "B/command")

		runner := up()
		outputs := size("OURO_OUTPUTS_ouro")
		add(runs, fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", output), "lines", "now")
		ended := 0
		until("all have run", func() bool {
			ended = 0
			_, _, err := st.Log(b.Context(), "", func(l state.Line) bool {
				if l.Outcome == state.OK {
					ended++
				}
				return true
			})
			return err == nil && ended >= runs
		})
		down(runner)
		b.ReportMetric((size("OURO_ouro")-command)/runs, "B/one-shot-that-ran")
		b.ReportMetric((size("OURO_OUTPUTS_ouro")-outputs)/runs-output, "B/output-beside-its-bytes")

		// lines of the ledger: a pause and its end, which leave the task as it was
		id := ""
		if _, err := state.Each(b.Context(), st, func(e state.Entry) bool { id = e.Task.ID; return false }, state.Pending); err != nil {
			b.Fatal(err)
		}
		twice := func() {
			for range 50 {
				if _, err := st.Pause(b.Context(), id, time.Time{}, time.Now()); err != nil {
					b.Fatal(err)
				}
				if _, err := st.Resume(b.Context(), id, time.Now()); err != nil {
					b.Fatal(err)
				}
			}
		}
		twice()
		lines := size("OURO_ouro")
		twice()
		b.ReportMetric((size("OURO_ouro")-lines)/100, "B/line")

		rss := func(c *exec.Cmd) (now, most float64) {
			b.Helper()
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
			if err != nil {
				b.Fatal(err)
			}
			for line := range bytes.Lines(text) {
				_, _ = fmt.Sscanf(string(line), "VmRSS: %f kB", &now)
				_, _ = fmt.Sscanf(string(line), "VmHWM: %f kB", &most)
			}
			return now / 1024, most / 1024
		}
		due := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		task := state.Task{Created: due, Text: "tea", On: []string{state.AnyNode}, When: state.Timing{Text: "every 1h", Kind: "interval", Zone: "UTC", Start: due}}
		drafts := make([]state.Draft, 1000)
		for i := range drafts {
			drafts[i] = state.Draft{Task: task, Due: due}
		}
		for range many / len(drafts) {
			for _, a := range st.AddAll(b.Context(), drafts) {
				if a.Err != nil {
					b.Fatal(a.Err)
				}
			}
		}
		runner = up()
		// a command that ran shows that the runner has read the queue
		ran := filepath.Join(b.TempDir(), "ran")
		add(1, "touch "+ran, "lines", "now")
		until("it has read the queue", func() bool { _, err := os.Stat(ran); return err == nil })
		time.Sleep(90 * time.Second) // it gives back what it does not need when nothing happens for a while
		now, most := rss(runner)
		b.ReportMetric(now, "MB-runner")
		b.ReportMetric(most, "MB-runner-at-its-most")
		down(runner)
		b.ReportMetric(0, "ns/op")
	}
}
