package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	return idleCost(ouro, dir)
}

// said returns an error with the output of the program.
func said(err error) error {
	if e, ok := errors.AsType[*exec.ExitError](err); ok && len(e.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(e.Stderr)))
	}
	return err
}

// eachLate returns how many milliseconds late commands started: at the instants that they wrote,
// instead of when they were due.
func eachLate(times int, once func(i int) (at, due time.Time, err error)) (late []float64, err error) {
	for i := range times {
		at, due, err := once(i)
		if err != nil {
			return nil, err
		}
		late = append(late, float64(at.Sub(due).Microseconds())/1000)
	}
	return late, nil
}

// written reads an instant in seconds, as date(1) wrote it. err is why there is none.
func written(text []byte, err error) (time.Time, error) {
	if err != nil {
		return time.Time{}, err
	}
	whole, digits, _ := strings.Cut(strings.TrimSpace(string(text)), ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}, err
	}
	nanos, err := strconv.ParseInt((digits + "000000000")[:9], 10, 64)
	return time.Unix(seconds, nanos), err
}

// ownLateness schedules one-shots a third of a second apart and reads what they wrote.
func ownLateness(ouro, dir string) ([]float64, error) {
	call := func(words ...string) ([]byte, error) {
		cmd := exec.Command(ouro, words...)
		cmd.Env = append(os.Environ(), "OURO_HOME="+filepath.Join(dir, "late"))
		return cmd.Output()
	}
	begin := time.Now().Add(2 * time.Second)
	due := func(i int) time.Time { return begin.Add(time.Duration(i) * 333 * time.Millisecond) }
	var ids []string
	for i := range ticks {
		out, err := call("at", due(i).UTC().Format(time.RFC3339Nano), "-q", "--", "date", "+%s.%N")
		if err != nil {
			return nil, err
		}
		ids = append(ids, strings.TrimSpace(string(out)))
	}
	time.Sleep(time.Until(due(ticks).Add(2 * time.Second)))
	return eachLate(ticks, func(i int) (time.Time, time.Time, error) {
		out, err := call("log", ids[i], "--json")
		if err != nil {
			return time.Time{}, due(i), err
		}
		var answer struct {
			Log []struct {
				Stdout struct{ Text string }
			}
		}
		if err := json.Unmarshal(out, &answer); err != nil || len(answer.Log) == 0 {
			return time.Time{}, due(i), errors.Join(err, fmt.Errorf("no run of %s", ids[i]))
		}
		at, err := written([]byte(answer.Log[len(answer.Log)-1].Stdout.Text), nil)
		return at, due(i), err
	})
}

func sleepLateness(string, string) ([]float64, error) {
	return eachLate(ticks, func(int) (time.Time, time.Time, error) {
		due := time.Now().Add(300 * time.Millisecond)
		at, err := written(exec.Command("sh", "-c", "sleep 0.3; date +%s.%N").Output())
		return at, due, err
	})
}

func snoozeLateness(string, string) ([]float64, error) {
	return eachLate(ticks, func(int) (time.Time, time.Time, error) {
		at, err := written(exec.Command("snooze", "-H*", "-M*", "-S*", "date", "+%s.%N").Output())
		return at, at.Truncate(time.Second), err
	})
}

// atdLateness runs an atd of its own, if it may, which starts a few jobs at the next full minute.
func atdLateness(_, dir string) ([]float64, error) {
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
	return eachLate(jobs, func(i int) (time.Time, time.Time, error) {
		at, err := written(os.ReadFile(fmt.Sprintf("%s/atd.%d", dir, i)))
		return at, due, err
	})
}

func systemdLateness(_, dir string) ([]float64, error) {
	return eachLate(5, func(i int) (time.Time, time.Time, error) {
		file := fmt.Sprintf("%s/systemd.%d", dir, i)
		due := time.Now().Add(time.Second)
		if out, err := exec.Command("systemd-run", "--user", "--on-active=1", "--timer-property=AccuracySec=1us", "sh", "-c",
			"date +%s.%N > "+file).CombinedOutput(); err != nil {
			line, _, _ := strings.Cut(string(out), "\n")
			return time.Time{}, due, errors.New(line)
		}
		time.Sleep(time.Until(due) + time.Second)
		at, err := written(os.ReadFile(file))
		return at, due, err
	})
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

// idleCost counts what a runner does in a minute in which nothing is due.
func idleCost(ouro, dir string) error {
	home := filepath.Join(dir, "idle")
	if err := stock(ouro, home, idlers); err != nil {
		return err
	}
	pid, stop, err := startRunner(ouro, home)
	if err != nil {
		return err
	}
	defer stop()
	time.Sleep(150 * time.Second) // until it has looked at everything and is idle
	calls := "strace is not here"
	if _, err := exec.LookPath("strace"); err == nil {
		file := filepath.Join(dir, "calls")
		if err := exec.Command("timeout", "-s", "INT", fmt.Sprint(int(idle.Seconds())), "strace", "-f", "-qq", "-c", "-o", file, "-p", strconv.Itoa(pid)).Run(); err != nil {
			var ended *exec.ExitError
			if !errors.As(err, &ended) {
				return err
			}
		}
		if calls, err = totalCalls(file); err != nil {
			return err
		}
	}
	held, _ := memoryOf(pid) // 0 where the system does not say
	fmt.Printf("%-44s %s\n%-44s %d kB\n", fmt.Sprintf("a runner with %d pending: system calls a minute", idlers), calls, "  and its memory", held["VmRSS"])
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
