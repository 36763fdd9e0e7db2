package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// lists is how often a list is measured, and sets how often something that makes very many files
// is.
const (
	lists = 15
	sets  = 3
)

// ofMany are the goals of lists, of many tasks at once, and of memory.
var ofMany = []goal{
	{"ls --json of 10,000 / atq", "1.0", (*site).listed},
	{"  its memory", "30 MB", (*site).listedMemory},
	{"ls on a terminal of 100,000 / of 20", "", (*site).onScreen},
	{"one call adds 10,000 tasks / another build", "2.2", (*site).added},
	{"1,000 commands at once / xargs -P with as many places", "1.3", (*site).bursts},
	{"memory of a runner of 10,000 from the fifth second on", "25 MB", func(s *site) (string, error) { return s.resident(10_000) }},
	{"memory of a runner of 100,000 from the fifth second on", "60 MB", func(s *site) (string, error) { return s.resident(100_000) }},
}

// listed compares ls --json of 10,000 tasks with atq of as many jobs.
func (s *site) listed() (string, error) {
	spool, err := openSpool()
	if err != nil {
		return "", err
	}
	defer spool.clear()
	if _, err := spool.fill(idlers); err != nil {
		return "", err
	}
	os.Setenv("OURO_HOME", s.homes[idlers])
	return ratio(alternate(lists, []string{s.ouro, "ls", "--json"}, []string{"atq"})), nil
}

// listedMemory measures the peak of memory of that ls.
func (s *site) listedMemory() (string, error) {
	os.Setenv("OURO_HOME", s.homes[idlers])
	mb, err := memory([]string{s.ouro, "ls", "--json"})
	return fmt.Sprintf("%.0f MB", mb), err
}

// onScreen compares ls on a terminal with very many tasks and with 20. They run in turn.
func (s *site) onScreen() (string, error) {
	few, many := filepath.Join(s.dir, "screen"), filepath.Join(s.dir, "screens")
	for home, n := range map[string]int{few: 20, many: 100_000} {
		if err := stock(s.ouro, home, n); err != nil {
			return "", err
		}
	}
	screen, err := openScreen()
	if err != nil {
		return "", err
	}
	defer screen.close()
	took, err := inTurn(lists, []string{many, few}, screen.tty, func(int) []string { return []string{s.ouro, "ls"} })
	if err != nil {
		return "", err
	}
	return ratio(took[0], took[1]), nil
}

// added measures how many tasks a second one call adds durably. It also measures another build of
// the program (-before).
func (s *site) added() (string, error) {
	builds := []string{s.ouro}
	if before != "" {
		builds = append(builds, before)
	}
	rates := make([][]float64, len(builds))
	for i := range sets {
		for k, build := range builds {
			rate, err := s.adds(build, filepath.Join(s.dir, fmt.Sprintf("added%d.%d", i, k)))
			if err != nil {
				return "", err
			}
			rates[k] = append(rates[k], rate)
		}
	}
	ours := at(rates[0], 50)
	if before == "" {
		return fmt.Sprintf("%.0f a second; -before names the other build", ours), nil
	}
	theirs := at(rates[1], 50)
	return fmt.Sprintf("%.2f (%.0f / %.0f a second)", ours/theirs, ours, theirs), nil
}

// adds returns how many tasks a second one call of a build adds to a state folder.
func (s *site) adds(build, home string) (float64, error) {
	add := exec.Command(build, "at", "in 30 days", "--stdin", "jsonl", "-q")
	add.Env = append(os.Environ(), "OURO_HOME="+home, "OURO_AUTOSTART=0")
	add.Stdin = strings.NewReader(strings.Repeat(`{"command":["true"]}`+"\n", idlers))
	begin := time.Now()
	if out, err := add.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("adding %d tasks: %w: %s", idlers, err, out)
	}
	return idlers / time.Since(begin).Seconds(), nil
}

// bursts compares many one-shots that are due at one instant with xargs -P, and with a program that
// only starts as many and waits for them, which is as fast as anything can be.
func (s *site) bursts() (string, error) {
	words, err := json.Marshal(map[string]any{"command": []string{"true"}})
	if err != nil {
		return "", err
	}
	var ours, peers, bare []float64
	for i := range sets {
		took, err := crowded(s.ouro, filepath.Join(s.dir, fmt.Sprint("burst", i)), "jsonl", string(words))
		if err != nil {
			return "", err
		}
		x, err := xargs("true", "true")
		if err != nil {
			return "", err
		}
		b, err := starting("true")
		if err != nil {
			return "", err
		}
		for list, d := range map[*[]float64]time.Duration{&ours: took, &peers: x, &bare: b} {
			*list = append(*list, crowd/d.Seconds())
		}
	}
	mine, theirs, most := at(ours, 50), at(peers, 50), at(bare, 50)
	return fmt.Sprintf("%.2f (%.0f / %.0f a second; starting and waiting alone: %.2f)", mine/theirs, mine, theirs, most/theirs), nil
}

// starting returns how long it takes to start many commands, some at once, and to wait for them.
func starting(command string) (time.Duration, error) {
	path, err := exec.LookPath(command)
	if err != nil {
		return 0, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	attr := &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{null.Fd(), null.Fd(), null.Fd()}}
	begin := time.Now()
	for started := range crowd + abreast {
		if started < crowd {
			if _, err := syscall.ForkExec(path, []string{command}, attr); err != nil {
				return 0, err
			}
		}
		if started >= abreast {
			if _, err := syscall.Wait4(-1, nil, 0, nil); err != nil {
				return 0, err
			}
		}
	}
	return time.Since(begin), nil
}

// resident returns the peak of memory of a runner with n tasks, from its fifth second to its
// fifteenth.
func (s *site) resident(n int) (string, error) {
	pid, stop, err := startRunner(s.ouro, s.homes[n])
	if err != nil {
		return "", err
	}
	defer stop()
	time.Sleep(5 * time.Second)
	var most map[string]int
	for range 100 {
		now, err := memoryOf(pid)
		if err != nil {
			return "", err
		}
		if now["VmRSS"] > most["VmRSS"] {
			most = now
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Sprintf("%d MB (%d its own, %d of the program's file)", most["VmRSS"]>>10, most["RssAnon"]>>10, most["RssFile"]>>10), nil
}
