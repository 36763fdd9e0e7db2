//go:build unix

package proc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// start sets pid, identity and child.
func (p *Process) start(path string, spec Spec, files [3]*os.File) error {
	attr := &syscall.ProcAttr{
		Dir:   spec.Dir,
		Env:   append([]string{}, spec.Env...), // never nil, which would stand for our own
		Files: []uintptr{files[0].Fd(), files[1].Fd(), files[2].Fd()},
		Sys:   &syscall.SysProcAttr{Setpgid: !spec.Foreground},
	}
	started, err := p.child.prepare(attr, p.cgroup)
	if err != nil {
		return err
	}
	defer started()
	program, argv, err := spec.limited(path)
	if err != nil {
		return err
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
		// A script without a #! line: every shell and execvp(3) hand it to sh, and so does cron.
		argv := append([]string{shell, path}, spec.Argv[1:]...)
		f = spawn(shell, argv, attr, spec.Umask)
	}
	for _, f := range files {
		runtime.KeepAlive(f)
	}
	if f.err != nil {
		return f.err
	}
	p.pid, p.countedIn = f.pid, countedIn()
	p.identity = identify(f.pid)
	return nil
}

// isText reports whether a file could be a shell script: its first line has no NUL byte, as POSIX says of text.
func isText(path string) (bool, error) {
	line, err := firstLine(path)
	return err == nil && bytes.IndexByte(line, 0) < 0, err
}

// firstLine is the first line of a file, or the beginning of it.
func firstLine(path string) ([]byte, error) {
	head, err := beginning(path, make([]byte, 256))
	if err != nil {
		return nil, err
	}
	if len(head) == 0 {
		return nil, io.EOF
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return line, nil
}

// interpreterOf is the program that runs a script: the one that its first line names, or else the
// shell. Empty: it is not a script.
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

// reap gives the pid back. The caller holds mu and has seen the child end.
func (p *Process) reap() Result {
	var status unix.WaitStatus
	var usage unix.Rusage
	for {
		_, err := unix.Wait4(p.pid, &status, 0, &usage)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			// Somebody else in this process waited for our child. How it ended is lost.
			return Result{ExitCode: -1}
		}
		break
	}
	r := Result{
		ExitCode: status.ExitStatus(), // -1 for a signal
		User:     time.Duration(usage.Utime.Nano()),
		System:   time.Duration(usage.Stime.Nano()),
	}
	if most := int64(usage.Maxrss) * rssUnit; most > p.countedIn {
		r.MaxRSS = most
	}
	if status.Signaled() {
		r.Signal = signalName(status.Signal())
	}
	return r
}

// signal sends sig. The caller holds mu with the child not reaped, or has a hold on the pid.
func (p *Process) signal(sig syscall.Signal) error {
	if p.foreground {
		return ended(unix.Kill(p.pid, sig))
	}
	err := unix.Kill(-p.pid, sig)
	if err == unix.ESRCH {
		// It has left the group it was started in, or leads none.
		err = unix.Kill(p.pid, sig)
	}
	return ended(err)
}

// ended turns "no such process" into success. Some systems say so, and darwin says EPERM, of a child that has ended
// and was not waited for.
func ended(err error) error {
	if err == unix.ESRCH || (err == unix.EPERM && runtime.GOOS == "darwin") {
		return nil
	}
	return os.NewSyscallError("kill", err)
}

// wake lets stopped members of the group see the TERM that was sent before.
func (p *Process) wake() { _ = p.send(syscall.SIGCONT) }

// enterable says why dir cannot be the folder of a child.
func enterable(dir string) error {
	if dir == "" {
		return nil
	}
	if !filepath.IsAbs(dir) {
		return errors.New("not an absolute path")
	}
	info, err := os.Stat(dir)
	if err != nil {
		return reason(err)
	}
	if !info.IsDir() {
		return syscall.ENOTDIR
	}
	return executable(dir)
}

// executable says why the permissions of path do not let us execute or enter it.
func executable(path string) error {
	err := unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS)
	if err == unix.ENOSYS || err == unix.EINVAL || err == unix.EOPNOTSUPP {
		return nil // the start itself will tell
	}
	return err
}

// reason is the cause inside a PathError, for messages that name the path already.
func reason(err error) error {
	if pe := new(os.PathError); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// signalName is "SIGTERM", or "signal 35" for one without a name.
func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return strings.ToLower(sig.String())
}
