package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// spool is the queue of at(1). Because at(1) takes many minutes to add 100,000 jobs, it adds one,
// and the others are copies of its file under other numbers, which only root can make. They are due
// tomorrow and later, and are removed at the end.
type spool struct {
	dir  string
	like []byte      // the file of a job
	is   os.FileInfo // its owner and mode
	made []string
}

const spoolDir = "/var/spool/cron/atjobs"

func openSpool() (*spool, error) {
	if _, err := exec.LookPath("at"); err != nil {
		return nil, errors.New("it is not installed: apt-get install at")
	}
	if text, err := exec.Command("atq").Output(); err != nil || len(text) > 0 {
		return nil, fmt.Errorf("its queue is not empty, %v", err)
	}
	if err := exec.Command("sh", "-c", "echo true | at tomorrow 2>/dev/null").Run(); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(spoolDir, "a*"))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("its spool is not in %s, or it is not open to this user", spoolDir)
	}
	s := &spool{dir: spoolDir, made: files}
	if s.like, err = os.ReadFile(files[0]); err == nil {
		s.is, err = os.Stat(files[0])
	}
	// The jobs are removed whatever ends this program.
	signal.Ignore(syscall.SIGPIPE)
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-told
		s.clear()
		os.Exit(1)
	}()
	return s, err
}

// jobsFrom is the number of the first copy. It is higher than those that at(1) gives out.
const jobsFrom = 0x80000

// fill makes the queue n jobs long, and returns the numbers of some jobs that it has made.
func (s *spool) fill(n int) (jobs []int, err error) {
	owner := s.is.Sys().(*syscall.Stat_t)
	minutes, err := strconv.ParseInt(filepath.Base(s.made[0])[6:], 16, 64)
	if err != nil {
		return nil, err
	}
	for i := len(s.made); i < n; i++ {
		file := filepath.Join(s.dir, fmt.Sprintf("a%05x%08x", jobsFrom+i, minutes+int64(i)))
		if err := os.WriteFile(file, s.like, s.is.Mode().Perm()); err != nil {
			return nil, err
		}
		s.made = append(s.made, file)
		if err := errors.Join(os.Chmod(file, s.is.Mode().Perm()), os.Chown(file, int(owner.Uid), int(owner.Gid))); err != nil {
			return nil, err
		}
	}
	for i := max(1, n-50); i < n; i++ {
		if _, err := os.Stat(s.made[i]); err == nil {
			jobs = append(jobs, jobsFrom+i)
		}
	}
	return jobs, nil
}

// clear removes all jobs, also those that at(1) has added meanwhile.
func (s *spool) clear() {
	for _, f := range s.made {
		os.Remove(f)
	}
	text, _ := exec.Command("atq").Output()
	for line := range strings.Lines(string(text)) {
		exec.Command("atrm", strings.Fields(line)[0]).Run()
	}
}
