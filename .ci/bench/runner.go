package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	ticks   = 20   // how many starts of each peer are timed
	crowd   = 1000 // how many one-shots are due at the same instant
	abreast = 32   // how many of them run at once
	idlers  = 10_000
	idle    = time.Minute
)

// beats measures how late commands start under the runner and its peers, by the clock that the
// commands read at their start (date), how fast many commands run, and what an idle runner costs.
func beats(ouro, dir string) error {
	fmt.Printf("\n%-44s %10s %10s\n", "lateness of a command's own clock, ms", "p50", "p99")
	for _, p := range []struct {
		name string
		need string
		late func(ouro, dir string) ([]float64, error)
	}{
		{"ouro-timer", "", ownLateness},
		{"sh -c 'sleep 0.3; date'", "sh", sleepLateness},
		{"snooze (apt-get install snooze)", "snooze", snoozeLateness},
		{"atd, which knows minutes", "atd", atdLateness},
		{"systemd-run --on-active", "systemd-run", systemdLateness},
	} {
		if p.need != "" {
			if _, err := exec.LookPath(p.need); err != nil {
				fmt.Printf("%-44s %10s\n", p.name, "not here")
				continue
			}
		}
		late, err := p.late(ouro, dir)
		if err != nil {
			fmt.Printf("%-44s %10s (%v)\n", p.name, "not usable", said(err))
			continue
		}
		fmt.Printf("%-44s %10.2f %10.2f\n", p.name, at(late, 50), at(late, 99))
	}
	if err := burst(ouro, dir); err != nil {
		return err
	}
	if err := bulk(ouro, dir); err != nil {
		return err
	}
	return idleCost(ouro, dir)
}

// said returns an error with the output of the program.
func said(err error) error {
	if e := (*exec.ExitError)(nil); errors.As(err, &e) && len(e.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(e.Stderr)))
	}
	return err
}

// after returns how many milliseconds an instant in seconds, as date(1) wrote it, is after another
// one.
func after(text string, due time.Time) (float64, error) {
	seconds, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return 0, err
	}
	whole, frac := int64(seconds), strings.TrimSpace(text)
	_, digits, _ := strings.Cut(frac, ".")
	nanos, err := strconv.ParseInt((digits + "000000000")[:9], 10, 64)
	if err != nil {
		return 0, err
	}
	return float64(time.Unix(whole, nanos).Sub(due).Microseconds()) / 1000, nil
}

// ownLateness schedules one-shots a third of a second apart and reads what they wrote.
func ownLateness(ouro, dir string) ([]float64, error) {
	home := filepath.Join(dir, "late")
	env := append(os.Environ(), "OURO_HOME="+home)
	begin := time.Now().Add(2 * time.Second)
	dues := map[string]time.Time{}
	for i := range ticks {
		due := begin.Add(time.Duration(i) * 333 * time.Millisecond)
		cmd := exec.Command(ouro, "at", due.UTC().Format(time.RFC3339Nano), "-q", "--", "date", "+%s.%N")
		cmd.Env = env
		out, err := cmd.Output()
		if err != nil {
			return nil, err
		}
		dues[strings.TrimSpace(string(out))] = due
	}
	time.Sleep(time.Until(begin.Add(ticks*333*time.Millisecond + 2*time.Second)))
	var late []float64
	for id, due := range dues {
		cmd := exec.Command(ouro, "log", id, "--json")
		cmd.Env = env
		out, err := cmd.Output()
		if err != nil {
			return nil, err
		}
		var answer struct {
			Log []struct {
				Stdout struct{ Text string }
			}
		}
		if err := json.Unmarshal(out, &answer); err != nil || len(answer.Log) == 0 {
			return nil, errors.Join(err, fmt.Errorf("no run of %s", id))
		}
		ms, err := after(answer.Log[len(answer.Log)-1].Stdout.Text, due)
		if err != nil {
			return nil, err
		}
		late = append(late, ms)
	}
	return late, nil
}

func sleepLateness(string, string) (late []float64, err error) {
	for range ticks {
		due := time.Now().Add(300 * time.Millisecond)
		out, err := exec.Command("sh", "-c", "sleep 0.3; date +%s.%N").Output()
		if err != nil {
			return nil, err
		}
		ms, err := after(string(out), due)
		if err != nil {
			return nil, err
		}
		late = append(late, ms)
	}
	return late, nil
}

func snoozeLateness(string, string) (late []float64, err error) {
	for range ticks {
		out, err := exec.Command("snooze", "-H*", "-M*", "-S*", "date", "+%s.%N").Output()
		if err != nil {
			return nil, err
		}
		ms, err := after(string(out), time.Unix(0, 0))
		if err != nil {
			return nil, err
		}
		late = append(late, ms-float64(int64(ms/1000)*1000))
	}
	return late, nil
}

// atdLateness runs an atd of its own, if it may, which starts a few jobs at the next full minute.
func atdLateness(_, dir string) (late []float64, err error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("only root starts an atd")
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if err := exec.CommandContext(ctx, "atd", "-f").Start(); err != nil {
		return nil, err
	}
	if left := 60 - time.Now().Second(); left < 4 {
		time.Sleep(time.Duration(left) * time.Second)
	}
	due := time.Now().Truncate(time.Minute).Add(time.Minute)
	const jobs = 5
	for i := range jobs {
		cmd := exec.Command("at", "now + 1 minute")
		cmd.Stdin = strings.NewReader(fmt.Sprintf("date +%%s.%%N > %s/atd.%d", dir, i))
		if err := cmd.Run(); err != nil {
			return nil, err
		}
	}
	time.Sleep(time.Until(due) + 3*time.Second)
	for i := range jobs {
		text, err := os.ReadFile(fmt.Sprintf("%s/atd.%d", dir, i))
		if err != nil {
			return nil, err
		}
		ms, err := after(string(text), due)
		if err != nil {
			return nil, err
		}
		late = append(late, ms)
	}
	return late, nil
}

func systemdLateness(_, dir string) (late []float64, err error) {
	for i := range 5 {
		file := fmt.Sprintf("%s/systemd.%d", dir, i)
		due := time.Now().Add(time.Second)
		if out, err := exec.Command("systemd-run", "--user", "--on-active=1", "--timer-property=AccuracySec=1us", "sh", "-c",
			"date +%s.%N > "+file).CombinedOutput(); err != nil {
			line, _, _ := strings.Cut(string(out), "\n")
			return nil, errors.New(line)
		}
		time.Sleep(time.Until(due) + time.Second)
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		ms, err := after(string(text), due)
		if err != nil {
			return nil, err
		}
		late = append(late, ms)
	}
	return late, nil
}

// burst compares many one-shots that are due at the same instant with xargs -P. It uses commands
// that do nothing, for which most of the time is bookkeeping, and commands that take a little
// while.
func burst(ouro, dir string) error {
	fmt.Printf("\n%-44s %10s %10s %8s %10s %10s %8s\n", fmt.Sprintf("%d, %d at once, a second", crowd, abreast), "at -c", "xargs sh", "ratio", "at --", "xargs", "ratio")
	for i, command := range []string{"true", "/bin/true", "sleep 0.02", "sleep 0.05", "sleep 0.1"} {
		lines, err := crowded(ouro, filepath.Join(dir, fmt.Sprint("lines", i)), "lines", command)
		if err != nil {
			return err
		}
		words, err := json.Marshal(map[string]any{"command": strings.Fields(command)})
		if err != nil {
			return err
		}
		direct, err := crowded(ouro, filepath.Join(dir, fmt.Sprint("words", i)), "jsonl", string(words))
		if err != nil {
			return err
		}
		shell, err := xargs(command, "sh", "-c", "{}")
		if err != nil {
			return err
		}
		bare, err := xargs(command, strings.Fields(command)...)
		if err != nil {
			return err
		}
		rate := func(d time.Duration) float64 { return crowd / d.Seconds() }
		fmt.Printf("%-44s %10.0f %10.0f %8.2f %10.0f %10.0f %8.2f\n", "  "+command,
			rate(lines), rate(shell), rate(lines)/rate(shell), rate(direct), rate(bare), rate(direct)/rate(bare))
	}
	return nil
}

// xargs returns how long xargs takes for many lines. Each line replaces {} in a command.
func xargs(line string, command ...string) (time.Duration, error) {
	x := exec.Command("xargs", append([]string{"-P", strconv.Itoa(abreast), "-I{}"}, command...)...)
	x.Stdin = strings.NewReader(strings.Repeat(line+"\n", crowd))
	begin := time.Now()
	err := x.Run()
	return time.Since(begin), err
}

// crowded returns how long a runner takes for many commands, each a line for at --stdin.
func crowded(ouro, home, form, line string) (time.Duration, error) {
	env := append(os.Environ(), "OURO_HOME="+home, "OURO_AUTOSTART=0")
	due := time.Now().Add(3 * time.Second)
	lines := strings.Repeat(line+"\n", crowd)
	add := exec.Command(ouro, "at", due.UTC().Format(time.RFC3339Nano), "--stdin", form, "-q")
	add.Env, add.Stdin = env, strings.NewReader(lines)
	if out, err := add.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("adding %d tasks: %w: %s", crowd, err, out)
	}
	time.Sleep(time.Until(due) + 100*time.Millisecond)
	begin := time.Now()
	drain := exec.Command(ouro, "run", "--drain", "--quiet", "--max-parallel", strconv.Itoa(abreast))
	drain.Env = env
	if err := drain.Run(); err != nil {
		return 0, err
	}
	took := time.Since(begin)
	count := exec.Command("sh", "-c", ouro+" log -n 100000 | grep -c '\tok\t'")
	count.Env = env
	if out, err := count.Output(); err != nil || strings.TrimSpace(string(out)) != strconv.Itoa(crowd) {
		return 0, fmt.Errorf("of %d one-shots %s are accounted for as ok (%v)", crowd, strings.TrimSpace(string(out)), err)
	}
	return took, nil
}

// bulk adds very many tasks with one call, three times, and prints how many it adds a second.
func bulk(ouro, dir string) error {
	var rates []float64
	for i := range 3 {
		add := exec.Command(ouro, "at", "in 30 days", "--stdin", "jsonl", "-q")
		add.Env = append(os.Environ(), "OURO_HOME="+filepath.Join(dir, fmt.Sprint("bulk", i)), "OURO_AUTOSTART=0")
		add.Stdin = strings.NewReader(strings.Repeat(`{"command":["true"]}`+"\n", idlers))
		begin := time.Now()
		if out, err := add.CombinedOutput(); err != nil {
			return fmt.Errorf("adding %d tasks: %w: %s", idlers, err, out)
		}
		rates = append(rates, idlers/time.Since(begin).Seconds())
	}
	slices.Sort(rates)
	fmt.Printf("%-44s %.0f to %.0f\n", fmt.Sprintf("one call adds %d tasks: a second", idlers), rates[0], rates[len(rates)-1])
	return nil
}

// idleCost counts what a runner does in a minute in which nothing is due.
func idleCost(ouro, dir string) error {
	home := filepath.Join(dir, "idle")
	env := append(os.Environ(), "OURO_HOME="+home, "OURO_AUTOSTART=0")
	add := exec.Command(ouro, "at", "in 30 days", "--stdin", "lines", "-q")
	add.Env, add.Stdin = env, strings.NewReader(strings.Repeat("true\n", idlers))
	if out, err := add.CombinedOutput(); err != nil {
		return fmt.Errorf("adding %d tasks: %w: %s", idlers, err, out)
	}
	r := exec.Command(ouro, "run", "--quiet")
	r.Env = env
	if err := r.Start(); err != nil {
		return err
	}
	defer func() {
		r.Process.Signal(os.Interrupt)
		r.Wait()
	}()
	time.Sleep(150 * time.Second) // until it has looked at everything and is idle
	pid := strconv.Itoa(r.Process.Pid)
	calls := "strace is not here"
	if _, err := exec.LookPath("strace"); err == nil {
		file := filepath.Join(dir, "calls")
		if err := exec.Command("timeout", "-s", "INT", fmt.Sprint(int(idle.Seconds())), "strace", "-f", "-qq", "-c", "-o", file, "-p", pid).Run(); err != nil {
			var ended *exec.ExitError
			if !errors.As(err, &ended) {
				return err
			}
		}
		if calls, err = totalCalls(file); err != nil {
			return err
		}
	}
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	rss := ""
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			rss = strings.TrimSpace(value)
		}
	}
	fmt.Printf("%-44s %s\n%-44s %s\n", fmt.Sprintf("a runner with %d pending: system calls a minute", idlers), calls, "  and its memory", rss)
	return nil
}

// totalCalls reads the last line of strace -c.
func totalCalls(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) >= 4 && words[len(words)-1] == "total" {
			return words[3], nil
		}
	}
	return "0", nil
}
