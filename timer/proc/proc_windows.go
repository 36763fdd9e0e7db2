package proc

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// child is the process, and a job object that contains it and its descendants, except those that
// started before the child was in the job.
type child struct {
	process *os.Process
	job     windows.Handle
}

func (p *Process) start(path string, spec Spec, files [3]*os.File) error {
	var flags uint32
	if !spec.Foreground {
		flags = windows.CREATE_NEW_PROCESS_GROUP
	}
	if spec.detached {
		flags |= windows.DETACHED_PROCESS
	}
	process, err := os.StartProcess(path, spec.Argv, &os.ProcAttr{
		Dir:   spec.Dir,
		Env:   append([]string{}, spec.Env...), // not nil, because that would mean our own
		Files: files[:],
		Sys:   &syscall.SysProcAttr{HideWindow: spec.detached, CreationFlags: flags},
	})
	if err != nil {
		return reason(err)
	}
	p.pid, p.child.process = process.Pid, process
	p.identity = identify(p.pid)
	if !spec.Foreground && !spec.detached {
		p.child.job = newJob(process.Pid)
	}
	return nil
}

// newJob returns a job object that contains the process, or 0. Closing it kills nothing, so the
// child can outlive us.
func newJob(pid int) windows.Handle {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, h)
		windows.CloseHandle(h)
	}
	if err != nil {
		windows.CloseHandle(job)
		return 0
	}
	return job
}

// awaitExit returns when the child has ended.
func (p *Process) awaitExit() {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(p.pid))
	if err != nil {
		return
	}
	defer windows.CloseHandle(h)
	_, _ = windows.WaitForSingleObject(h, windows.INFINITE) // after an error, reap waits
}

func (p *Process) reap() Result {
	state, err := p.child.process.Wait()
	if p.child.job != 0 {
		windows.CloseHandle(p.child.job)
	}
	if err != nil {
		return Result{ExitCode: -1}
	}
	return Result{ExitCode: state.ExitCode(), User: state.UserTime(), System: state.SystemTime()}
}

// signal kills the child and its job if sig is KILL. If it is TERM or INT, it asks the child's
// console group to end, which only reaches programs that share our console. It asks nothing of an
// adopted process. Other signals are not supported.
func (p *Process) signal(sig syscall.Signal) error {
	if p.adopted {
		return endAdopted(p.pid, sig)
	}
	switch sig {
	case syscall.SIGKILL:
		if p.child.job != 0 {
			return windows.TerminateJobObject(p.child.job, 1)
		}
		if err := p.child.process.Kill(); !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		return nil
	case syscall.SIGTERM, syscall.SIGINT:
		if !p.foreground {
			// A program without a console cannot be asked. Stop kills it when the grace is over.
			_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.pid))
		}
		return nil
	default:
		return errors.ErrUnsupported
	}
}

// endAdopted kills a process that is not our child if sig is KILL. It ignores other signals,
// because a process of another console cannot be asked to end.
func endAdopted(pid int, sig syscall.Signal) error {
	if sig != syscall.SIGKILL {
		return nil
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil
	}
	defer p.Release()
	if err := p.Kill(); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

func (p *Process) wake() {}

// leftBehind is false, because this cannot be known here. So what a stopped child leaves in its job
// is killed when the child ends.
func (p *Process) leftBehind() bool { return false }

// resetSignals does nothing here: children inherit no dispositions.
func resetSignals() {}

// Ignored reports whether this process ignores a signal.
func Ignored(sig os.Signal) bool { return signal.Ignored(sig) }

// detachDescriptors does nothing here: children inherit only the handles they are given.
func detachDescriptors() error { return nil }

// Umask is -1, because Windows has none.
func Umask() int { return -1 }

// rootFolder is that of a detached process.
func rootFolder() string { return os.Getenv("SystemDrive") + `\` }

// executable is nil: permissions are not checked before a start.
func executable(string) error { return nil }

const defaultPath = `C:\Windows\System32;C:\Windows`

// sameKey reports whether two names of environment variables are the same.
func sameKey(a, b string) bool { return strings.EqualFold(a, b) }

// program returns the file that is executed for path: itself, or with one of the usual extensions.
func program(path string) (string, error) {
	candidates := []string{path + ".com", path + ".exe", path + ".bat", path + ".cmd"}
	if filepath.Ext(path) != "" {
		candidates = append([]string{path}, candidates...)
	}
	for _, c := range candidates {
		if info, err := os.Stat(c); err == nil && !info.IsDir() {
			return c, nil
		}
	}
	return "", fs.ErrNotExist
}

// interpreterOf is empty: the system finds the interpreter by the name of the file.
func interpreterOf(string) string { return "" }

func ownGroup(*exec.Cmd) (release func()) { return func() {} }
