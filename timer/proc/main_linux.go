package proc

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// This program starts itself under two names to do one thing in a process of its own, and then
// executes another program there. The name is a word of the command line that nobody types.
const (
	// starterName is the zeroth word of a starter (see starter_linux.go). It has no other words.
	starterName = "ouro-timer (starting)"
	// limiterName is the first word of a limiter: PROGRAM limiterName NICE IOPRIORITY PATH WORD...
	// sets its priorities, finds PATH and executes it with the words.
	limiterName = "ouro-timer (limiting)"
)

func init() {
	switch {
	case len(os.Args) == 1 && os.Args[0] == starterName:
		starterMain(os.NewFile(starterFile, "starter"))
	case len(os.Args) > 5 && os.Args[1] == limiterName:
		limiterMain(os.Args[2:])
	}
}

// ViaFinder returns, for a command that may hang, the command line of a process that finds and
// executes that command in its own place, so that its parent never hangs. It is a limiter without
// limits, for packages that start programs with the standard library. It returns false if the
// command cannot hang.
func ViaFinder(argv []string, path string) (program string, args []string, ok bool) {
	if !(Spec{Argv: argv, Dir: "/", Env: []string{"PATH=" + path}}).MayHang() {
		return "", nil, false
	}
	exe, err := Executable()
	return exe, limiterWords(exe, Limits{}, argv[0], argv), err == nil
}

// limiterWords is the command line of a limiter.
func limiterWords(self string, l Limits, path string, argv []string) []string {
	return append([]string{self, limiterName, strconv.Itoa(l.Nice), strconv.Itoa(int(l.IO)), path}, argv...)
}

// limiterMain sets the priorities of this process and executes the program. It does not return.
func limiterMain(words []string) {
	runtime.LockOSThread() // priorities belong to a thread, and this one executes the program
	nice, io, path, argv := words[0], words[1], words[2], words[3:]
	// It ends this process like a shell that could not start a program.
	fail := func(e *StartError) {
		os.Stderr.WriteString(e.Error() + "\n")
		os.Exit(e.ExitCode())
	}
	if n, err := strconv.Atoi(nice); err != nil {
		os.Exit(126) // it was not this program that called us by the name
	} else if n != 0 {
		ours, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err == nil { // the system call returns 20 minus the niceness
			err = unix.Setpriority(unix.PRIO_PROCESS, 0, min(max(20-ours+n, -20), 19))
		}
		if err != nil {
			fail(&StartError{"nice", path, err})
		}
	}
	if n, err := strconv.Atoi(io); err != nil {
		os.Exit(126)
	} else if n != 0 {
		const whoProcess = 1 // IOPRIO_WHO_PROCESS; number 0 is this thread
		if _, _, err := unix.Syscall(unix.SYS_IOPRIO_SET, whoProcess, 0, uintptr(n)); err != 0 {
			fail(&StartError{"ionice", path, err})
		}
	}
	found, err := LookPath(path, pathOf(os.Environ()), "")
	if err == nil {
		err = &StartError{"start", found, blameInterpreter(found, execute(found, argv, os.Environ()))}
	}
	se := new(StartError)
	errors.As(err, &se)
	fail(se)
}

// execute puts a program in the place of this one. The shell executes a text without a #! line.
func execute(path string, argv, env []string) error {
	err := syscall.Exec(path, argv, env)
	if errors.Is(err, syscall.ENOEXEC) {
		if text, _ := isText(path); text {
			err = syscall.Exec(shell, append([]string{shell, path}, argv[1:]...), env)
		}
	}
	return err
}

// Name makes ps and pgrep show this process by a name, of which the kernel keeps 15 bytes. Without
// it, a program that was started through /proc/self/exe would be called exe.
func Name(name string) {
	// An error does not matter: the process works without the name.
	_ = os.WriteFile("/proc/self/comm", []byte(name), 0o600)
}
