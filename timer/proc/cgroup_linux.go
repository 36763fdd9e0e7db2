package proc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Cgroups is the part of the tree of cgroups that is ours. Each child gets a cgroup below it.
type Cgroups struct{ root string }

const (
	// cgroupPrefix begins the names of our cgroups, and of the scopes.
	cgroupPrefix = "ouro-"
	// runnerCgroup is the cgroup of this process itself. It needs one, because a cgroup whose
	// children have limits must not contain processes.
	runnerCgroup = cgroupPrefix + "runner"
)

// OwnCgroups finds the cgroup that was delegated to this process, by systemd (Delegate=yes) or by a
// container whose first process it is. It moves this process, and what this process has started,
// into a cgroup below it. The error says why there is none.
func OwnCgroups() (*Cgroups, error) {
	root, err := cgroupFolder("/proc/self")
	if err != nil {
		return nil, err
	}
	if filepath.Base(root) == runnerCgroup {
		root = filepath.Dir(root)
	}
	if os.Getpid() != 1 && !delegated(root) {
		return nil, errors.New("the cgroup of the runner is not delegated to it")
	}
	return claimCgroup(root)
}

// delegated reports whether systemd has delegated a cgroup to the processes in it. The manager of
// the machine says so by an attribute. That of a user, which sets none, is asked.
func delegated(path string) bool {
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		value := make([]byte, 8)
		if n, err := unix.Getxattr(path, name, value); err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	if os.Getenv("SYSTEMD_EXEC_PID") != strconv.Itoa(os.Getpid()) {
		return false // it was not systemd that started this process
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	answer, err := exec.CommandContext(ctx, "systemctl", "--user", "show", "--property=Delegate,ControlGroup", "--", filepath.Base(path)).Output()
	properties := map[string]string{}
	for line := range strings.Lines(string(answer)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		properties[name] = value
	}
	own := properties["ControlGroup"] // another manager can have a unit of this name
	return err == nil && properties["Delegate"] == "yes" && own != "" && strings.HasSuffix(path, own)
}

// cgroupFolder returns the folder of a process's cgroup, given its folder below /proc.
func cgroupFolder(process string) (string, error) {
	mounts, err := os.ReadFile(process + "/mountinfo")
	if err != nil {
		return "", err
	}
	membership, err := os.ReadFile(process + "/cgroup")
	if err != nil {
		return "", err
	}
	return cgroupIn(string(mounts), string(membership))
}

// cgroupIn returns the folder of a process's cgroup, given the texts of proc_pid_mountinfo(5) and
// proc_pid_cgroup(5).
func cgroupIn(mounts, membership string) (string, error) {
	cgroup := ""
	for line := range strings.Lines(membership) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			cgroup = path
		}
	}
	for line := range strings.Lines(mounts) {
		mount, kind, _ := strings.Cut(line, " - ")
		fields := strings.Fields(mount)
		if cgroup == "" || len(fields) < 5 || !strings.HasPrefix(kind, "cgroup2 ") {
			continue
		}
		if below, ok := strings.CutPrefix(cgroup, strings.TrimSuffix(fields[3], "/")); ok {
			return filepath.Join(fields[4], below), nil
		}
	}
	return "", errors.New("cgroups of version 2 are not mounted")
}

// claimCgroup moves the processes of a cgroup into runnerCgroup, so that it can have others below
// it, and removes the empty cgroups that an earlier runner left there.
func claimCgroup(root string) (*Cgroups, error) {
	own := filepath.Join(root, runnerCgroup)
	if err := os.Mkdir(own, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	for _, pid := range members(root) {
		err := writeCgroup(own, "cgroup.procs", strconv.Itoa(pid))
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			return nil, err
		}
	}
	entries, _ := os.ReadDir(root)
	for _, e := range entries {
		if e.IsDir() && e.Name() != runnerCgroup && strings.HasPrefix(e.Name(), cgroupPrefix) {
			_ = os.Remove(filepath.Join(root, e.Name())) // fails for one with processes
		}
	}
	return &Cgroups{root}, nil
}

// writeCgroup writes a file of the cgroup at path.
func writeCgroup(path, file, text string) error {
	f, err := os.OpenFile(filepath.Join(path, file), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// cgroup is that of one child. The zero value means none.
type cgroup struct {
	path string
	ours bool // we made it, so we remove it
}

// makeCgroup makes the cgroup of a child. The child gets none, without an error, if none can be
// made and nothing is to be limited.
func (s Spec) makeCgroup() (g cgroup, err error) {
	if s.Cgroups == nil {
		if s.Limits.needCgroup() {
			_, err = systemdRun()
			if err == nil && os.Geteuid() != 0 && !s.hasBus() {
				err = errors.New("the command has neither XDG_RUNTIME_DIR nor DBUS_SESSION_BUS_ADDRESS, and systemd-run needs one of them")
			}
		}
		if err != nil {
			return g, &LimitError{err}
		}
		return g, nil
	}
	if g, err = s.Cgroups.make(s.Unit); err != nil {
		if s.Limits.needCgroup() {
			return cgroup{}, &LimitError{err}
		}
		return cgroup{}, nil
	}
	if s.Limits.needCgroup() {
		// The controllers are enabled only when they are needed: systemd does not restart a runner
		// that has enabled them while commands of the previous runner live.
		for _, controller := range []string{"+memory", "+cpu"} {
			// setLimits reports a controller that is missing.
			_ = writeCgroup(s.Cgroups.root, "cgroup.subtree_control", controller)
		}
	}
	if err := g.setLimits(s.Limits); err != nil {
		g.remove()
		return cgroup{}, &LimitError{err}
	}
	return g, nil
}

// make makes a cgroup that did not exist. An existing one will not do: the kernel may still be
// killing its processes, and would kill a new one, too.
func (c *Cgroups) make(name string) (g cgroup, err error) {
	for try := range 100 {
		g = cgroup{filepath.Join(c.root, name), true}
		if try > 0 {
			g.path += "." + strconv.Itoa(try)
		}
		if err = os.Mkdir(g.path, 0o755); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return g, err
}

// setLimits limits what all processes of the cgroup use together.
func (g cgroup) setLimits(l Limits) error {
	for _, limit := range []struct {
		file, text string
		wanted     bool
	}{
		{"memory.max", strconv.FormatInt(l.Memory, 10), l.Memory > 0},
		{"memory.oom.group", "1", l.Memory > 0},
		{"cpu.max", fmt.Sprintf("%d 100000", l.CPU*1000), l.CPU > 0},
	} {
		if !limit.wanted {
			continue
		}
		err := writeCgroup(g.path, limit.file, limit.text)
		if errors.Is(err, fs.ErrNotExist) {
			controller, _, _ := strings.Cut(limit.file, ".")
			err = errors.New("the cgroup of the runner has no controller " + controller)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hasBus reports whether systemd-run --user finds the user's systemd in the child's environment.
func (s Spec) hasBus() bool {
	for _, variable := range s.Env {
		if strings.HasPrefix(variable, "XDG_RUNTIME_DIR=") || strings.HasPrefix(variable, "DBUS_SESSION_BUS_ADDRESS=") {
			return true
		}
	}
	return false
}

// open opens the folder, so that a process can be started in the cgroup. It returns -1 for none.
func (g cgroup) open() (int, error) {
	if g.path == "" {
		return -1, nil
	}
	fd, err := unix.Open(g.path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &LimitError{err}
	}
	return fd, nil
}

// cgroupOf returns the cgroup that a runner has made for a process, or the scope that systemd has
// made for it, or none.
func cgroupOf(pid int) cgroup {
	path, err := cgroupFolder("/proc/" + strconv.Itoa(pid))
	if err != nil || !ofRun(filepath.Base(path)) {
		return cgroup{}
	}
	return cgroup{path, !strings.HasSuffix(path, ".scope")}
}

// ofRun reports whether a cgroup is called like that of a run. A service is not one, even our own,
// ouro-timer.service: a command that its runner did not put anywhere else is among its processes.
func ofRun(name string) bool {
	like, _ := filepath.Match(cgroupPrefix+"*-[0-9]*-[0-9]*", name)
	return like && !strings.HasSuffix(name, ".service")
}

// members returns the processes in a cgroup.
func members(path string) (pids []int) {
	data, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
	if err != nil {
		return nil
	}
	for _, word := range strings.Fields(string(data)) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// send sends a signal to the processes in the cgroup, except those of a process group that has got
// the signal already. KILL also reaches processes that are forked meanwhile (since Linux 5.14).
func (g cgroup) send(sig syscall.Signal, exceptGroup int) {
	if g.path == "" {
		return
	}
	if sig == syscall.SIGKILL && writeCgroup(g.path, "cgroup.kill", "1") == nil {
		return
	}
	for _, pid := range members(g.path) {
		if group, err := unix.Getpgid(pid); err == nil && group != exceptGroup {
			_ = unix.Kill(pid, sig)
		}
	}
}

// occupied reports whether the cgroup has a process other than except.
func (g cgroup) occupied(except int) bool {
	if g.path == "" {
		return false
	}
	for _, pid := range members(g.path) {
		if pid != except {
			return true
		}
	}
	return false
}

// remove removes the cgroup if it is ours and has no processes. It reports whether the system has
// killed processes of an own cgroup because they had used up its memory.
func (g cgroup) remove() (outOfMemory bool) {
	if !g.ours {
		return false
	}
	events, _ := os.ReadFile(filepath.Join(g.path, "memory.events"))
	for line := range strings.Lines(string(events)) {
		if count, ok := strings.CutPrefix(line, "oom_kill "); ok {
			outOfMemory = strings.TrimSpace(count) != "0"
		}
	}
	_ = os.Remove(g.path)
	return outOfMemory
}
