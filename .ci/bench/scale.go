package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// scale measures each operation with n pending tasks, and that of at(1) with as many jobs if it has
// the operation. Durations are those of whole processes, in milliseconds, p50. A cell is ours /
// at's = ratio.
func scale(ouro, dir string, sizes []int) error {
	homes := map[int]string{}
	for _, n := range sizes {
		homes[n] = filepath.Join(dir, fmt.Sprint("home", n))
		if err := stock(ouro, homes[n], n); err != nil {
			return err
		}
	}
	spool, err := openSpool()
	if err != nil {
		fmt.Println("without at(1):", err)
	} else {
		defer spool.clear()
	}
	t := table{sizes: sizes, cells: map[string]string{}}
	if err := t.growth(ouro, homes); err != nil {
		return err
	}
	for _, n := range sizes {
		os.Setenv("OURO_HOME", homes[n])
		beside := spool
		if n > jobsMost {
			beside = nil
		}
		if err := t.operations(ouro, n, beside); err != nil {
			return err
		}
		if err := t.runner(ouro, homes[n], n); err != nil {
			return err
		}
	}
	t.print()
	return nil
}

// jobsMost is the longest queue that at(1) gets.
const jobsMost = 100_000

// table has the measured values, by operation and number of tasks.
type table struct {
	sizes []int
	rows  []string
	cells map[string]string
}

func (t *table) put(row string, n int, cell string) {
	if !slices.Contains(t.rows, row) {
		t.rows = append(t.rows, row)
	}
	t.cells[fmt.Sprint(row, n)] = cell
}

func (t *table) print() {
	fmt.Printf("\n%-34s", "pending tasks")
	for _, n := range t.sizes {
		fmt.Printf(" %24d", n)
	}
	fmt.Println()
	for _, row := range t.rows {
		fmt.Printf("%-34s", row)
		for _, n := range t.sizes {
			fmt.Printf(" %24s", t.cells[fmt.Sprint(row, n)])
		}
		fmt.Println()
	}
}

// turns is how often one at is measured with each number of tasks.
const turns = 150

// growth measures one at with each number of tasks.
func (t *table) growth(ouro string, homes map[int]string) error {
	var all []string
	for _, n := range t.sizes {
		all = append(all, homes[n])
	}
	for _, flag := range []string{"", " --key"} {
		took, err := inTurn(turns, all, nil, func(i int) []string {
			words := []string{ouro, "at", "1h", "-q", "--no-autostart"}
			if flag != "" {
				words = append(words, "--key", fmt.Sprint("bench", i))
			}
			return append(words, "--", "true")
		})
		if err != nil {
			return err
		}
		least := at(took[0], 50)
		for k, n := range t.sizes {
			p50 := at(took[k], 50)
			t.put("at"+flag+", in turn", n, fmt.Sprintf("%.2f (%+.0f%%)", p50, 100*(p50/least-1)))
		}
	}
	return nil
}

// inTurn runs a command several times with each of some state folders, in turn, so that other work
// of the machine affects all alike. It returns how long it took with each, in milliseconds.
func inTurn(times int, homes []string, out *os.File, words func(i int) []string) ([][]float64, error) {
	took := make([][]float64, len(homes))
	for i := range times {
		for k := range homes {
			n := (i + k) % len(homes)
			os.Setenv("OURO_HOME", homes[n])
			ms, err := once(words(i), out)
			if err != nil {
				return nil, err
			}
			took[n] = append(took[n], ms)
		}
	}
	return took, nil
}

// operations measures the other operations with n tasks, and with n jobs.
func (t *table) operations(ouro string, n int, spool *spool) error {
	var jobs []int
	if spool != nil {
		var err error
		if jobs, err = spool.fill(n); err != nil {
			return err
		}
	}
	screen, err := openScreen()
	if err != nil {
		return err
	}
	defer screen.close()
	few, many := 3, 20
	if n <= 10_000 {
		few = 10
	}
	next := 1 // a runner has run the first task
	id := func() string { next++; return state.ID(uint64(next % n)) }
	job := func() string {
		j := jobs[len(jobs)-1]
		jobs = jobs[:len(jobs)-1]
		return strconv.Itoa(j)
	}
	one := id()
	for _, op := range []struct {
		row   string
		times int
		ours  func() []string
		peer  func() []string
		out   *os.File
	}{
		{"at / at", many, argv(ouro, "at", "1h", "-q", "--no-autostart", "--", "true"), argv("sh", "-c", "echo true | at now + 1 hour 2>/dev/null"), nil},
		{"ls / atq, on a terminal", few, argv(ouro, "ls"), argv("atq"), screen.tty},
		{"ls --json / atq", few, argv(ouro, "ls", "--json"), argv("atq"), nil},
		{"show / at -c", many, argv(ouro, "show", one), func() []string { return []string{"at", "-c", strconv.Itoa(jobs[0])} }, nil},
		{"rm / atrm", min(many, n-3), func() []string { return []string{ouro, "rm", id(), "-q"} }, func() []string { return []string{"atrm", job()} }, nil},
	} {
		var ours, peers []float64
		for range op.times {
			ms, err := once(op.ours(), op.out)
			if err != nil {
				return err
			}
			ours = append(ours, ms)
			if spool == nil {
				continue
			}
			if ms, err = once(op.peer(), op.out); err != nil {
				return err
			}
			peers = append(peers, ms)
		}
		cell := fmt.Sprintf("%.1f", at(ours, 50))
		if spool != nil {
			cell = fmt.Sprintf("%.1f / %.1f = %.2f", at(ours, 50), at(peers, 50), at(ours, 50)/at(peers, 50))
		}
		t.put(op.row, n, cell)
	}
	for _, words := range [][]string{{"ls"}, {"ls", "--json"}, {"ls", "--before", "2100-01-01"}, {"doctor"}} {
		mb, err := memory(append([]string{ouro}, words...))
		if err != nil {
			return err
		}
		t.put(strings.Join(words, " ")+": most memory", n, fmt.Sprintf("%.0f MB", mb))
	}
	return nil
}

// memory returns the peak of memory of a command, in MB. An exit code other than 0 is not an error,
// because doctor without a runner has one.
func memory(words []string) (float64, error) {
	cmd := exec.Command(words[0], words[1:]...)
	err := cmd.Run()
	var exit *exec.ExitError
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && (err == nil || errors.As(err, &exit) && exit.ExitCode() == 1) {
		return float64(usage.Maxrss) / 1024, nil
	}
	return 0, fmt.Errorf("%s: %w", strings.Join(words, " "), cmp.Or(err, errors.New("the system does not say how much memory it held")))
}

func argv(words ...string) func() []string { return func() []string { return words } }

// once runs a command and returns how long it took, in milliseconds. It discards the output if out
// is nil.
func once(words []string, out *os.File) (float64, error) {
	cmd := exec.Command(words[0], words[1:]...)
	if out != nil {
		cmd.Stdout = out
	}
	begin := time.Now()
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	}
	return float64(time.Since(begin).Microseconds()) / 1000, err
}

// settled is how long the memory of a runner must not grow before it counts as its peak.
const settled = 3 * time.Second

// runner measures how long a runner takes from its start to that of a command that is due, and its
// peak of memory after it has looked at everything.
func (t *table) runner(ouro, home string, n int) error {
	file := filepath.Join(home, "started")
	if _, err := once([]string{ouro, "at", "1s", "-q", "--no-autostart", "--", "touch", file}, nil); err != nil {
		return err
	}
	time.Sleep(1100 * time.Millisecond)
	begin := time.Now()
	pid, stop, err := startRunner(ouro, home)
	if err != nil {
		return err
	}
	defer stop()
	for {
		if _, err := os.Stat(file); err == nil {
			break
		}
		if time.Since(begin) > time.Minute {
			return errors.New("the runner has started nothing in a minute")
		}
		time.Sleep(time.Millisecond)
	}
	t.put("runner: start to command", n, fmt.Sprintf("%.0f ms", float64(time.Since(begin).Microseconds())/1000))
	most, since := 0, time.Now()
	for time.Since(since) < settled && time.Since(begin) < time.Minute {
		now, err := memoryOf(pid)
		if err != nil {
			return err
		}
		if now["VmHWM"] > most {
			most, since = now["VmHWM"], time.Now()
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.put("runner: most memory", n, fmt.Sprintf("%.0f MB", float64(most)/1024))
	return nil
}

// startRunner starts a runner of a state folder. stop ends it.
func startRunner(ouro, home string) (pid int, stop func(), err error) {
	r := exec.Command(ouro, "run", "--quiet")
	r.Env = append(os.Environ(), "OURO_HOME="+home)
	if err := r.Start(); err != nil {
		return 0, nil, err
	}
	return r.Process.Pid, func() {
		r.Process.Signal(syscall.SIGTERM)
		r.Wait()
	}, nil
}

// memoryOf returns what the system says of the memory of a process, in KB, by the names that Linux
// has for it.
func memoryOf(pid int) (map[string]int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return nil, err
	}
	fields := map[string]int{}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		if words := strings.Fields(rest); len(words) == 2 && words[1] == "kB" {
			if fields[name], err = strconv.Atoi(words[0]); err != nil {
				return nil, err
			}
		}
	}
	return fields, nil
}
