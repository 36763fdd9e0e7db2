//go:build unix

package proc

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// start executes the program in a child, and sets pid, identity and child.
func (p *Process) start(path string, spec Spec, files [3]*os.File) error {
	attr := &syscall.ProcAttr{
		Dir:   spec.Dir,
		Env:   append([]string{}, spec.Env...), // not nil, because that would mean our own
		Files: []uintptr{files[0].Fd(), files[1].Fd(), files[2].Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: spec.detached, Setpgid: !spec.detached && !spec.Foreground},
	}
	release, err := p.child.prepare(attr, p.cgroup)
	if err != nil {
		return err
	}
	defer release()
	program, argv, err := spec.withLimits(path)
	if err != nil {
		return err
	}
	if program == selfLink && spec.detached {
		// ps shows the name by which we were called, not the link.
		argv = append([]string{os.Args[0]}, argv[1:]...)
	}
	f := spawn(program, argv, attr, spec.Umask)
	text := false
	if errors.Is(f.err, syscall.ENOEXEC) {
		var err error
		if text, err = isText(path); Passing(err) {
			f.err = err
		}
	}
	if text {
		// Every shell, execvp(3) and cron let sh run a script without a #! line.
		argv := append([]string{shell, path}, spec.Argv[1:]...)
		f = spawn(shell, argv, attr, spec.Umask)
	}
	for _, f := range files {
		runtime.KeepAlive(f)
	}
	if f.err != nil {
		return f.err
	}
	p.setPID(f.pid)
	return nil
}

// setPID notes which process the child is, and what is to be known of it before its program runs.
func (p *Process) setPID(pid int) {
	p.pid, p.rssFloor = pid, rssFloor()
	p.identity = identify(pid)
}

// isText reports whether a file could be a shell script: POSIX demands a first line without a NUL
// byte.
func isText(path string) (bool, error) {
	line, err := firstLine(path)
	return err == nil && bytes.IndexByte(line, 0) < 0, err
}

// firstLine returns the first line of a file, or its first 256 bytes if the line is longer.
func firstLine(path string) ([]byte, error) {
	head, err := readHead(path, make([]byte, 256))
	if err != nil {
		return nil, err
	}
	if len(head) == 0 {
		return nil, io.EOF
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return line, nil
}

// interpreterOf returns the program that runs a script: the one that its first line names, or else
// the shell. It returns the empty string if the file is not a script.
func interpreterOf(path string) string {
	line, err := firstLine(path)
	if err != nil || bytes.IndexByte(line, 0) >= 0 {
		return ""
	}
	if words, ok := bytes.CutPrefix(line, []byte("#!")); ok {
		if fields := bytes.Fields(words); len(fields) > 0 {
			return string(fields[0])
		}
	}
	return shell
}

// maxRSS is ru_maxrss in bytes. Darwin counts bytes, and all others KiB.
func maxRSS(usage unix.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}

// rssFloor returns the size, in bytes, up to which the system's count of a new child may be our own
// memory: at the execve of a child, Linux counts the memory that it held before, which is ours. Its
// sums are not exact, so an eighth and a MiB are added.
func rssFloor() int64 {
	var own unix.Rusage
	switch {
	case runtime.GOOS != "linux":
		return 0
	case unix.Getrusage(unix.RUSAGE_SELF, &own) != nil:
		return math.MaxInt64
	}
	size := maxRSS(own)
	return size + size/8 + 1<<20
}

// reap gives the pid back and returns how the child ended. The caller holds mu, and the child has
// ended.
func (p *Process) reap() Result {
	var status unix.WaitStatus
	var usage unix.Rusage
	for {
		_, err := unix.Wait4(p.pid, &status, 0, &usage)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			// Other code in this process waited for our child. How it ended is lost.
			return Result{ExitCode: -1}
		}
		break
	}
	r := Result{
		ExitCode: status.ExitStatus(), // -1 for a signal
		User:     time.Duration(usage.Utime.Nano()),
		System:   time.Duration(usage.Stime.Nano()),
	}
	if size := maxRSS(usage); size > p.rssFloor {
		r.MaxRSS = size
	}
	if status.Signaled() {
		r.Signal = signalName(status.Signal())
	}
	return r
}

// reapUnseen waits for the end of a child whose result does not matter, so that no zombie stays.
func reapUnseen(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}

// signal sends sig. The caller holds mu and the child is not reaped, or the caller is counted in
// stopping.
func (p *Process) signal(sig syscall.Signal) error {
	if p.foreground {
		return unlessGone(unix.Kill(p.pid, sig))
	}
	err := unix.Kill(-p.pid, sig)
	if err == unix.ESRCH {
		// The process has left the group in which it was started, or leads none.
		err = unix.Kill(p.pid, sig)
	}
	return unlessGone(err)
}

// unlessGone returns the error of kill(2), or nil if it means that the process has ended. Some
// systems say ESRCH of a child that has ended and was not waited for, and darwin says EPERM.
func unlessGone(err error) error {
	if err == unix.ESRCH || (err == unix.EPERM && runtime.GOOS == "darwin") {
		return nil
	}
	return os.NewSyscallError("kill", err)
}

// wake resumes suspended members of the group, so that they get the TERM that was sent before.
func (p *Process) wake() { _ = p.send(syscall.SIGCONT) }

// rootFolder is that of a detached process.
func rootFolder() string { return "/" }

// executable returns why the permissions of path do not let us execute or enter it, or nil.
func executable(path string) error {
	err := unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS)
	if err == unix.ENOSYS || err == unix.EINVAL || err == unix.EOPNOTSUPP {
		return nil // the start itself will tell
	}
	return err
}

// signalName is "SIGTERM", or "signal 35" for a signal without a name.
func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return strings.ToLower(sig.String())
}
