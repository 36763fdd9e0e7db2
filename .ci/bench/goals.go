package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// site is what the measurements of goals share.
type site struct {
	ouro, empty, dir string
	homes            map[int]string // state folders by how many tasks are pending
}

// goal is a row of docs/performance.md: the value to reach, and the function that measures it. Most
// values are ratios of two programs that run in turn, so that they are the same on a slow machine.
type goal struct {
	name, want string
	measure    func(s *site) (string, error)
}

// ofOneCall are the goals of the start of the program, and of one at.
var ofOneCall = []goal{
	{"version / an empty Go program", "3.0", (*site).start},
	{"  its page faults", "500", (*site).faults},
	{"one durable at / at(1)", "4.5", (*site).oneAt},
	{"the same at 10,000 pending / at none", "1.10", func(s *site) (string, error) { return s.grown(10_000) }},
	{"the same at 100,000 pending / at none", "1.10", func(s *site) (string, error) { return s.grown(100_000) }},
	{"system calls of an at beyond the empty program's", "80", (*site).systemCalls},
	{"  and how often it waits for the disk", "1", (*site).syncs},
}

// reach prints each goal beside the measured value.
func reach(ouro, empty, dir string) error {
	s := &site{ouro, empty, dir, map[int]string{}}
	for _, n := range []int{1, 10_000, 100_000} {
		s.homes[n] = filepath.Join(dir, fmt.Sprint("goal", n))
		if err := stock(ouro, s.homes[n], n); err != nil {
			return err
		}
	}
	fmt.Printf("%-54s %10s %s\n", "", "goal", "here")
	for _, g := range slices.Concat(ofOneCall, ofMany) {
		is, err := g.measure(s)
		if err != nil {
			is = "not to be measured here: " + err.Error()
		}
		fmt.Printf("%-54s %10s %s\n", g.name, g.want, is)
	}
	return nil
}

// ratio prints the ratio of the medians of two lists of milliseconds, and both medians.
func ratio(ours, peers []float64) string {
	a, b := at(ours, 50), at(peers, 50)
	return fmt.Sprintf("%.2f (%.2f ms / %.2f ms)", a/b, a, b)
}

func (s *site) start() (string, error) {
	return ratio(alternate(starts, []string{s.ouro, "version"}, []string{s.empty})), nil
}

func (s *site) faults() (string, error) {
	ours, err := faultsOf(s.ouro, "version")
	if err != nil {
		return "", err
	}
	none, err := faultsOf(s.empty)
	return fmt.Sprintf("%d (an empty program %d)", ours, none), err
}

// faultsOf returns the median of how many page faults a program has.
func faultsOf(words ...string) (int, error) {
	var counts []int
	for range 21 {
		cmd := exec.Command(words[0], words[1:]...)
		if err := cmd.Run(); err != nil {
			return 0, err
		}
		usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			return 0, errors.New("the system does not say")
		}
		counts = append(counts, int(usage.Minflt))
	}
	slices.Sort(counts)
	return counts[len(counts)/2], nil
}

// adding returns the call of an at that starts no runner.
func (s *site) adding() []string {
	return []string{s.ouro, "at", "1h", "--no-autostart", "-q", "--", "true"}
}

func (s *site) oneAt() (string, error) {
	if _, err := exec.LookPath("at"); err != nil {
		return "", errors.New("at(1) is not installed: apt-get install at")
	}
	job := filepath.Join(s.dir, "job")
	if err := os.WriteFile(job, []byte("true\n"), 0o600); err != nil {
		return "", err
	}
	os.Setenv("OURO_HOME", s.homes[1])
	ours, peers := alternate(adds, s.adding(), []string{"at", "-f", job, "now", "+", "1", "hour"})
	return ratio(ours, peers), exec.Command("sh", "-c", "atq | cut -f1 | xargs -r atrm").Run()
}

// grown compares an at beside n pending tasks with one beside none. They run in turn.
func (s *site) grown(n int) (string, error) {
	took, err := inTurn(turns, []string{s.homes[n], s.homes[1]}, nil, func(int) []string { return s.adding() })
	if err != nil {
		return "", err
	}
	return ratio(took[0], took[1]), nil
}

// ofTheRuntime are the system calls of Go's runtime. They are not counted, because their number
// depends on what else the machine does.
const ofTheRuntime = "clone,clone3,epoll_pwait,exit,futex,getpid,gettid,madvise,mmap,munmap,nanosleep,rt_sigaction,rt_sigprocmask,rt_sigreturn,sched_yield,sigaltstack,tgkill"

// traced counts the given system calls of a program, with strace.
func (s *site) traced(which string, words ...string) (int, error) {
	os.Setenv("OURO_HOME", s.homes[1])
	file := filepath.Join(s.dir, "calls")
	cmd := exec.Command("strace", append([]string{"-f", "-qq", "-c", "-e", "trace=" + which, "-o", file}, words...)...)
	// The program looks at each folder of PATH, and at each above its own.
	cmd.Env, cmd.Dir = append(os.Environ(), "PATH=/usr/bin:/bin"), s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("strace: %w: %s", err, out)
	}
	total, err := totalCalls(file)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(total)
}

func (s *site) systemCalls() (string, error) {
	ours, err := s.traced("!"+ofTheRuntime, s.adding()...)
	if err != nil {
		return "", err
	}
	none, err := s.traced("!"+ofTheRuntime, s.empty)
	return fmt.Sprintf("%d (%d and %d, without those that Go's runtime makes by the clock)", ours-none, ours, none), err
}

func (s *site) syncs() (string, error) {
	n, err := s.traced("fsync,fdatasync,sync,syncfs,sync_file_range,msync", s.adding()...)
	return strconv.Itoa(n), err
}
