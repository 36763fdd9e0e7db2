package cmd

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// tidyUp ends, when the test does, whoever works in its state folder or in one of the others, and removes the state folder. Until then
// something may be written there: a runner that was started may not have the lock yet, one that has stepped down may still tell somebody,
// and a command outlives both. Call it after the calls of t.TempDir for those folders: they are removed after this.
func tidyUp(t testing.TB, home string, others ...string) {
	t.Helper()
	t.Cleanup(func() {
		endAll(t, 3*time.Second, home, others...)
		var err error
		for range 50 { // only Linux tells who is still there
			if err = os.RemoveAll(home); err == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Error(err)
	})
}

// endAll stops the runner of a state folder, and then ends every process that works in it or in one of the others: by TERM, and by KILL
// when it goes on for the grace. It returns when none is left. Those that run --stop left behind are named in the test's log.
func endAll(t testing.TB, grace time.Duration, home string, others ...string) {
	t.Helper()
	folders := append([]string{home}, others...)
	if len(strays(folders)) > 0 {
		stopRunner(t, home)
	}
	told := map[proc.Identity]time.Time{}
	// One may begin while we look around: nobody is left when nobody was seen twice.
	for empty, end := 0, time.Now().Add(time.Minute); empty < 2; {
		found := strays(folders)
		if empty++; len(found) == 0 {
			continue
		}
		empty = 0
		for id, what := range found {
			since, known := told[id]
			switch {
			case !known:
				told[id] = time.Now()
				t.Logf("left behind: %s (pid %d)", what, id.PID)
				sendTo(id, syscall.SIGTERM)
			case time.Since(since) > grace:
				sendTo(id, syscall.SIGKILL)
			}
		}
		if time.Now().After(end) {
			t.Errorf("these do not end: %v", found)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func sendTo(id proc.Identity, sig syscall.Signal) {
	p, err := os.FindProcess(id.PID)
	if err != nil {
		return // gone
	}
	defer p.Release()
	if id.Alive() { // the number has not changed hands since
		_ = p.Signal(sig) // gone: what was wanted
	}
}

// strays are the processes but our own that have to do with one of the folders, and their words. Nobody is seen where there is no /proc.
func strays(folders []string) map[proc.Identity]string {
	names, _ := filepath.Glob("/proc/[0-9]*")
	own, _ := os.ReadFile("/proc/self/cmdline")
	found := map[proc.Identity]string{}
	for _, dir := range names {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		id, err := proc.Identify(pid)
		if err != nil {
			continue
		}
		words, _ := os.ReadFile(dir + "/cmdline")
		if bytes.Equal(words, own) {
			continue // a child of ours that is just being started, and has all our files until it is
		}
		for _, folder := range folders {
			if worksIn(dir, folder) {
				found[id] = strings.ReplaceAll(strings.TrimRight(string(words), "\x00"), "\x00", " ")
				break
			}
		}
	}
	return found
}

// worksIn reports whether a process has a folder in its environment, its words, its current folder or its open files.
func worksIn(dir, folder string) bool {
	for _, name := range []string{"/environ", "/cmdline"} {
		if text, err := os.ReadFile(dir + name); err == nil && mentions(string(text), folder) {
			return true
		}
	}
	if place, err := os.Readlink(dir + "/cwd"); err == nil && mentions(place, folder) {
		return true
	}
	open, _ := filepath.Glob(dir + "/fd/*")
	for _, fd := range open {
		if path, err := os.Readlink(fd); err == nil && mentions(path, folder) {
			return true
		}
	}
	return false
}

// mentions reports whether a folder, or something in it, stands in a text: not one whose name merely begins like it.
func mentions(text, folder string) bool {
	for {
		_, after, found := strings.Cut(text, folder)
		if !found {
			return false
		}
		if after == "" || !strings.ContainsAny(after[:1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.#") {
			return true
		}
		text = after
	}
}

// TestStrays: a process is found by each trace that it leaves, and is gone after endAll; one that works next door goes on.
func TestStrays(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("there is no /proc")
	}
	t.Parallel()
	dir := t.TempDir()
	home, next := filepath.Join(dir, "home"), filepath.Join(dir, "home2")
	if err := errors.Join(os.MkdirAll(home, 0o700), os.MkdirAll(next, 0o700)); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(home, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	start := func(attr os.ProcAttr, text string, more ...string) *os.Process {
		t.Helper()
		attr.Env = append(attr.Env, "PATH=/usr/bin:/bin")
		p, err := os.StartProcess("/bin/sh", append([]string{"sh", "-c", text}, more...), &attr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Kill(); p.Wait() })
		return p
	}
	const naps = "exec sleep 1000"
	neighbour := start(os.ProcAttr{Env: []string{"OURO_HOME=" + next}, Dir: next}, naps)
	var found []int
	for _, p := range []*os.Process{
		start(os.ProcAttr{Env: []string{"OURO_HOME=" + home}}, naps),
		start(os.ProcAttr{Dir: home}, naps),
		start(os.ProcAttr{Files: []*os.File{nil, out}}, naps),
		start(os.ProcAttr{}, "while sleep 0.01; do :; done", home),
		start(os.ProcAttr{Dir: home}, "trap '' TERM; while sleep 0.01; do :; done"),
	} {
		found = append(found, p.Pid)
	}
	endAll(t, 50*time.Millisecond, home)
	for _, pid := range found {
		if _, err := proc.Identify(pid); err == nil {
			t.Errorf("pid %d goes on", pid)
		}
	}
	if _, err := proc.Identify(neighbour.Pid); err != nil {
		t.Error("the process of another folder was ended")
	}
}
