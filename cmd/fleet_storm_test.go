//go:build unix

package cmd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/state/fleet/natstest"
	"github.com/ouro-timer/ouro-timer/state/memory"
)

// node is a machine of a fleet that shares this one.
type node struct {
	home  string
	url   string
	wires []*natstest.Link
	ahead time.Duration

	mu     sync.Mutex
	runner *exec.Cmd
}

// TestFleetStorm lets three runners share tasks over three servers for some seconds, OURO_TEST_FLEET=10m for longer, while the weather of package natstest
// goes over the servers, runners are killed and stopped, and their wires are cut; their clocks differ by a second. Then it holds the ledger against what the commands
// themselves have written: every one-shot has exactly one outcome, no occurrence was begun twice, and every instant of the recurring tasks
// stands in exactly one line. OURO_TEST_SEED repeats the order of the faults.
func TestFleetStorm(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("kills many processes")
	}
	lasts, seed := 15*time.Second, uint64(time.Now().UnixNano())
	if text := os.Getenv("OURO_TEST_FLEET"); text != "" {
		var err error
		if lasts, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := strconv.ParseUint(os.Getenv("OURO_TEST_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("OURO_TEST_SEED=%d", seed)
	f, servers := newFleet(t)
	var nodes []*node
	for i := range 3 {
		nodes = append(nodes, newNode(t, servers, i))
		f.home = nodes[i].home
		tidyUp(t, f.home, f.out)
	}
	for _, n := range nodes {
		n.up(f)
	}
	f.recur("--on", "any")
	ctx, stop := context.WithTimeout(t.Context(), lasts)
	defer stop()
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { n.suffer(ctx, f, rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	wg.Go(func() { f.addPatiently(ctx, rand.New(rand.NewPCG(seed, 10))) })
	weather, err := servers.Weather(ctx, rand.New(rand.NewPCG(seed, 11)))
	wg.Wait()
	for what, n := range weather {
		f.done["server: "+what] = n
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := servers.Calm(); err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		n.up(f)
	}
	if _, _, err := f.st.Open(t.Context()); err != nil { // they answer again
		t.Fatal(err)
	}
	f.settle()
	f.unlisted()
	for _, n := range nodes {
		n.down(syscall.SIGTERM)
	}
	f.check()
	t.Logf("%s: %v", lasts, f.counts())
}

// newFleet is a fleet without a runner yet, and its servers.
func newFleet(t testing.TB) (*faults, *natstest.Servers) {
	servers := natstest.StartLinked(t, 3)
	kv, err := jet.Open(t.Context(), jet.Options{URL: servers.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kv.Close)
	if err := initFleet(t.Context(), kv, 3); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := &faults{t: t, self: self, out: t.TempDir(), done: map[string]int{}}
	f.store = fleet.New(kv, fleet.Options{Local: memory.New(), Patience: time.Minute})
	f.st = f.store
	f.env = append(f.env, "OURO_STORE="+servers.URL())
	return f, servers
}

func newNode(t testing.TB, servers *natstest.Servers, i int) *node {
	n := &node{home: filepath.Join(t.TempDir(), "home"), ahead: time.Duration(i-1) * time.Second}
	var err error
	if n.url, n.wires, err = servers.Wired(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(n.home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(n.home, "config.toml"), fmt.Appendf(nil, "[node]\nname = \"m%d\"\n", i), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		n.down(syscall.SIGKILL)
		for _, k := range n.wires {
			k.Close()
		}
	})
	return n
}

// up starts the runner, and again when it ends because no server answers.
func (n *node) up(f *faults) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.runner != nil {
		return
	}
	c := exec.Command(f.self)
	c.Args = []string{"ouro-timer", "run"}
	c.Env = append(os.Environ(), "OURO_HOME="+n.home, "OURO_STORE="+n.url, "OURO_TEST_CLOCK="+n.ahead.String(), "TZ=UTC", "GORACE=atexit_sleep_ms=0")
	if err := c.Start(); err != nil {
		f.t.Error(err)
		return
	}
	n.runner = c
	go func() {
		_ = c.Wait()
		n.mu.Lock()
		again := n.runner == c
		if again {
			n.runner = nil
		}
		n.mu.Unlock()
		if again {
			time.Sleep(200 * time.Millisecond)
			n.up(f)
		}
	}()
}

// down ends the runner.
func (n *node) down(sig syscall.Signal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.runner != nil {
		_ = n.runner.Process.Signal(sig)
		n.runner = nil
	}
}

// suffer breaks one thing of a node after the other.
func (n *node) suffer(ctx context.Context, f *faults, r *rand.Rand) {
	for nap(ctx, time.Duration(r.IntN(4000))*time.Millisecond); ctx.Err() == nil; nap(ctx, time.Duration(r.IntN(4000))*time.Millisecond) {
		switch r.IntN(4) {
		case 0:
			n.down(syscall.SIGKILL)
			f.count("runners killed")
			nap(ctx, time.Duration(r.IntN(3000))*time.Millisecond)
			n.up(f)
		case 1:
			n.signal(syscall.SIGSTOP)
			nap(ctx, time.Duration(r.IntN(5000))*time.Millisecond)
			n.signal(syscall.SIGCONT)
			f.count("runners stopped for a while")
		default:
			deaf := r.IntN(2) == 0
			for _, k := range n.wires {
				if deaf {
					k.Deafen()
				} else {
					k.Cut()
				}
			}
			nap(ctx, time.Duration(r.IntN(8000))*time.Millisecond)
			for _, k := range n.wires {
				k.Mend()
			}
			f.count("runners cut off")
		}
	}
}

func (n *node) signal(sig syscall.Signal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.runner != nil {
		_ = n.runner.Process.Signal(sig)
	}
}

// addPatiently adds one-shots; what the servers do not answer is tried again, and may be there twice.
func (f *faults) addPatiently(ctx context.Context, r *rand.Rand) {
	for ctx.Err() == nil {
		at := []string{"now", "in 1 second", "in 2 seconds"}[r.IntN(3)]
		out, err := f.command("at", at, "-q", "--on", "any", "--no-autostart", "-c", f.script(fmt.Sprintf("0.%02d", r.IntN(40)))).Output()
		var exit *exec.ExitError
		switch {
		case err == nil:
			f.oneShots = append(f.oneShots, strings.TrimSpace(string(out)))
		case errors.As(err, &exit) && exit.ExitCode() == cli.ExitState:
			f.count("calls that were not answered")
		default:
			f.t.Errorf("at: %v: %s", err, exit.Stderr)
		}
		nap(ctx, time.Duration(r.IntN(400))*time.Millisecond)
	}
}

// unlisted are the one-shots that were added by calls that were not answered.
func (f *faults) unlisted() {
	_, problems, err := f.st.Log(f.t.Context(), "", func(l state.Line) bool {
		if l.Event == state.EventCreated && !slices.Contains(f.recurs, l.TaskID) && !slices.Contains(f.oneShots, l.TaskID) {
			f.oneShots = append(f.oneShots, l.TaskID)
			f.done["of them done all the same"]++
		}
		return true
	})
	if err != nil || len(problems) > 0 {
		f.t.Fatal(err, problems)
	}
}
