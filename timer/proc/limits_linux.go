package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Niceness and the priority at the disks are of a thread, and are to be set before the child's
// program begins. This very program does that in the child, and executes the program in its place.
// Memory and processor time are bounded by a cgroup (cgroups(7), version 2): one below a cgroup
// that is ours, else the scope that systemd-run(1) makes.

// limiterName is what this program is called by, in its second word, when it is to set priorities
// and to execute another one: limiterName NICE IOPRIORITY PATH WORD...
const limiterName = "ouro-timer (limiting)"

// beLimiter does not return.
func beLimiter(words []string) {
	runtime.LockOSThread() // whose priorities they are, and which executes
	nice, io, path, argv := words[0], words[1], words[2], words[3:]
	fail := func(op string, err error) {
		se := &StartError{op, path, err}
		os.Stderr.WriteString(se.Error() + "\n")
		os.Exit(se.ExitCode())
	}
	if n, err := strconv.Atoi(nice); err != nil {
		os.Exit(126) // somebody has called us by its name
	} else if n != 0 {
		ours, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err == nil { // the system call answers 20 less it
			err = unix.Setpriority(unix.PRIO_PROCESS, 0, min(max(20-ours+n, -20), 19))
		}
		if err != nil {
			fail("nice", err)
		}
	}
	if n, err := strconv.Atoi(io); err != nil {
		os.Exit(126)
	} else if n != 0 {
		const self = 1 // IOPRIO_WHO_PROCESS, of which 0 is this thread
		if _, _, err := unix.Syscall(unix.SYS_IOPRIO_SET, self, 0, uintptr(n)); err != 0 {
			fail("ionice", err)
		}
	}
	found, err := LookPath(path, os.Getenv("PATH"), "")
	if err == nil {
		err = execute(found, argv, os.Environ())
	}
	if se := new(StartError); errors.As(err, &se) {
		path, err = se.Path, se.Err
	}
	fail("start", lacking(path, err))
}

// execute puts a program in the place of this one, and a text without a #! line to the shell.
func execute(path string, argv, env []string) error {
	err := syscall.Exec(path, argv, env)
	if errors.Is(err, syscall.ENOEXEC) {
		if text, _ := isText(path); text {
			err = syscall.Exec(shell, append([]string{shell, path}, argv[1:]...), env)
		}
	}
	return err
}

// limited is the program that is executed for the one at path, and its words: what sets its limits
// stands in front, by its path.
func (s Spec) limited(path string) (program string, argv []string, err error) {
	scope := s.Limits.bounding() && s.Cgroups == nil
	if s.Limits.Nice == 0 && s.Limits.IO == 0 && !scope {
		return path, s.Argv, nil
	}
	self, err := Executable()
	if err != nil {
		return "", nil, err
	}
	argv = []string{self, limiterName, strconv.Itoa(s.Limits.Nice), strconv.Itoa(int(s.Limits.IO)), path}
	argv = append(argv, s.Argv...)
	if !scope {
		return self, argv, nil
	}
	program, err = systemdRun()
	if err != nil {
		return "", nil, err
	}
	words := []string{program, "--scope", "--quiet", "--collect", "--unit=" + s.Unit}
	if os.Geteuid() != 0 {
		words = append(words, "--user")
	}
	if s.Limits.Memory > 0 {
		words = append(words, "--property=MemoryMax="+strconv.FormatInt(s.Limits.Memory, 10))
	}
	if s.Limits.CPU > 0 {
		words = append(words, "--property=CPUQuota="+strconv.Itoa(s.Limits.CPU)+"%")
	}
	return program, append(append(words, "--"), argv...), nil
}

// systemdRun is the program that makes scopes.
func systemdRun() (string, error) {
	if _, err := os.Lstat("/run/systemd/system"); err != nil { // sd_booted(3)
		return "", errors.New("the runner has no cgroup of its own, and systemd does not run here")
	}
	path, err := LookPath("systemd-run", os.Getenv("PATH"), "")
	if err != nil {
		return "", errors.New("the runner has no cgroup of its own, and there is no program systemd-run")
	}
	return path, nil
}

// CanLimit says why a runner without cgroups of its own cannot limit what a child uses.
func CanLimit() error {
	_, err := systemdRun()
	return err
}

// Cgroups is the part of the tree of cgroups that is ours: each child gets one below it.
type Cgroups struct{ root string }

const (
	// cgroupsPrefix is what the cgroups that we make are called by, and the scopes.
	cgroupsPrefix = "ouro-"
	// runnerCgroup is where this process is itself: a cgroup whose children are bounded has no process of its own.
	runnerCgroup = cgroupsPrefix + "runner"
)

// OwnCgroups finds the cgroup that was given to this process to divide, by systemd (Delegate=yes) or
// by a container whose first process it is, and puts this process and what it has started into one
// below it. The error says why there is none.
func OwnCgroups() (*Cgroups, error) {
	root, err := cgroupFolder("/proc/self")
	if err != nil {
		return nil, err
	}
	if filepath.Base(root) == runnerCgroup {
		root = filepath.Dir(root)
	}
	if os.Getpid() != 1 && !delegated(root) {
		return nil, errors.New("the cgroup of the runner was not given to it")
	}
	return divide(root)
}

// delegated reports whether systemd has given a cgroup to those who are in it.
func delegated(path string) bool {
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		room := make([]byte, 8)
		if n, err := unix.Getxattr(path, name, room); err == nil && string(room[:n]) == "1" {
			return true
		}
	}
	return false
}

// cgroupFolder is the folder of a process's cgroup, by its folder below /proc.
func cgroupFolder(process string) (string, error) {
	mounts, err := os.ReadFile(process + "/mountinfo")
	if err != nil {
		return "", err
	}
	mine, err := os.ReadFile(process + "/cgroup")
	if err != nil {
		return "", err
	}
	return cgroupIn(string(mounts), string(mine))
}

// cgroupIn reads proc_pid_mountinfo(5) and proc_pid_cgroup(5): the folder where the process is.
func cgroupIn(mounts, mine string) (string, error) {
	at := ""
	for line := range strings.Lines(mine) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			at = path
		}
	}
	for line := range strings.Lines(mounts) {
		of, kind, _ := strings.Cut(line, " - ")
		fields := strings.Fields(of)
		if at == "" || len(fields) < 5 || !strings.HasPrefix(kind, "cgroup2 ") {
			continue
		}
		if below, ok := strings.CutPrefix(at, strings.TrimSuffix(fields[3], "/")); ok {
			return filepath.Join(fields[4], below), nil
		}
	}
	return "", errors.New("there are no cgroups of version 2")
}

// divide makes a cgroup ready for others below it, and drops those that are left there and empty.
func divide(root string) (*Cgroups, error) {
	own := filepath.Join(root, runnerCgroup)
	if err := os.Mkdir(own, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	for _, pid := range members(root) {
		err := tellCgroup(own, "cgroup.procs", strconv.Itoa(pid))
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			return nil, err
		}
	}
	entries, _ := os.ReadDir(root)
	for _, e := range entries {
		if e.IsDir() && e.Name() != runnerCgroup && strings.HasPrefix(e.Name(), cgroupsPrefix) {
			_ = os.Remove(filepath.Join(root, e.Name())) // one with processes stays
		}
	}
	return &Cgroups{root}, nil
}

func tellCgroup(path, file, text string) error {
	f, err := os.OpenFile(filepath.Join(path, file), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// cgroup is that of one child. The zero cgroup is none.
type cgroup struct {
	path string
	made bool // by us, who drop it
}

// confine makes the cgroup of a child. Where there is no place for it, and nothing is to be bounded, the child
// gets none.
func (s Spec) confine() (g cgroup, err error) {
	if s.Cgroups == nil {
		if s.Limits.bounding() {
			_, err = systemdRun()
			if err == nil && os.Geteuid() != 0 && !s.hasBus() {
				err = errors.New("the command has neither XDG_RUNTIME_DIR nor DBUS_SESSION_BUS_ADDRESS, by which systemd is asked")
			}
		}
		if err != nil {
			return g, &LimitError{err}
		}
		return g, nil
	}
	if g, err = s.Cgroups.make(s.Unit); err != nil {
		if s.Limits.bounding() {
			return cgroup{}, &LimitError{err}
		}
		return cgroup{}, nil
	}
	if s.Limits.bounding() { // and not before: with that systemd starts no runner anew while there are runs of the last
		for _, controller := range []string{"+memory", "+cpu"} {
			_ = tellCgroup(s.Cgroups.root, "cgroup.subtree_control", controller) // bound tells which is not there
		}
	}
	if err := g.bound(s.Limits); err != nil {
		g.leave()
		return cgroup{}, &LimitError{err}
	}
	return g, nil
}

// make makes a cgroup that was not there: what is started in one that was killed the kernel may kill as well.
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

// bound sets the limits of all that is in the cgroup.
func (g cgroup) bound(l Limits) error {
	for _, bound := range []struct {
		file, text string
		asked      bool
	}{
		{"memory.max", strconv.FormatInt(l.Memory, 10), l.Memory > 0},
		{"memory.oom.group", "1", l.Memory > 0},
		{"cpu.max", fmt.Sprintf("%d 100000", l.CPU*1000), l.CPU > 0},
	} {
		if !bound.asked {
			continue
		}
		err := tellCgroup(g.path, bound.file, bound.text)
		if errors.Is(err, fs.ErrNotExist) {
			controller, _, _ := strings.Cut(bound.file, ".")
			err = errors.New("the cgroup of the runner has no controller " + controller)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s Spec) hasBus() bool {
	for _, variable := range s.Env {
		if strings.HasPrefix(variable, "XDG_RUNTIME_DIR=") || strings.HasPrefix(variable, "DBUS_SESSION_BUS_ADDRESS=") {
			return true
		}
	}
	return false
}

// open opens the folder for who starts a process in it; -1 where there is none.
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

// cgroupOf is the cgroup that a runner has made for a process, or the scope that systemd has.
func cgroupOf(pid int) cgroup {
	path, err := cgroupFolder("/proc/" + strconv.Itoa(pid))
	if name := filepath.Base(path); err != nil || name == runnerCgroup || !strings.HasPrefix(name, cgroupsPrefix) {
		return cgroup{}
	}
	return cgroup{path, !strings.HasSuffix(path, ".scope")}
}

// members are the processes in a cgroup.
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

// send sends a signal to the processes in the cgroup that are not in a group, which has it already.
// KILL reaches those that are begun meanwhile, too.
func (g cgroup) send(sig syscall.Signal, group int) {
	if g.path == "" {
		return
	}
	if sig == syscall.SIGKILL && tellCgroup(g.path, "cgroup.kill", "1") == nil { // since Linux 5.14
		return
	}
	for _, pid := range members(g.path) {
		if of, err := unix.Getpgid(pid); err == nil && of != group {
			_ = unix.Kill(pid, sig)
		}
	}
}

// occupied reports whether there is a process in the cgroup besides one.
func (g cgroup) occupied(besides int) bool {
	if g.path == "" {
		return false
	}
	for _, pid := range members(g.path) {
		if pid != besides {
			return true
		}
	}
	return false
}

// leave drops the cgroup, unless something goes on in it, and reports whether the system has ended
// processes there because they had no memory left.
func (g cgroup) leave() (outOfMemory bool) {
	if !g.made {
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
