// Package proc starts, ends and identifies one child process.
//
// A child gets exactly the argument list, environment, folder, umask and three files that it is
// given. It inherits no other descriptor, signal disposition, signal mask or variable. Its output
// goes to files and never to pipes of ours, so it outlives us and never blocks on us. It leads a
// process group of its own, unless it is to stay with the terminal.
//
// The package writes only the files that the child was given, and decides nothing: when to start,
// how long to wait and what an exit code means is the caller's business.
package proc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Spec is what to start. The caller closes its files, at once after Start if it likes.
type Spec struct {
	Argv []string // Argv[0] is looked up in the PATH of Env unless it has a slash
	Dir  string   // absolute; empty means our own
	Env  []string // exactly this, each KEY=VALUE; nothing of ours is added

	// Umask is that of the child, whatever ours is; -1 means ours. No other thread of ours sees a
	// change. It has no meaning on Windows.
	Umask int

	Stdin  *os.File // nil is the null device
	Stdout *os.File // nil is the null device; a file, not a pipe, if the child may outlive us
	Stderr *os.File // like Stdout; may be the same file

	// Limits are what the child may use of the machine. If Cgroups is not nil, the child gets a
	// cgroup of its own, called Unit, so that Stop reaches all processes that come from it.
	Limits  Limits
	Cgroups *Cgroups
	Unit    string

	// Foreground keeps the child in our process group, with our terminal, our ignored signals and
	// the descriptors that our own caller opened for it, as env(1) or timeout --foreground would.
	Foreground bool

	detached bool // see Detach
}

// StartError says why nothing was started.
type StartError struct {
	Op   string // "find", "chdir", "open" or "start"
	Path string // the program, the folder or the file
	Err  error
}

func (e *StartError) Error() string {
	switch {
	case e.Op == "find" && e.Path == shell && errors.Is(e.Err, fs.ErrNotExist):
		return "there is no " + shell + " here: give the command behind --, which needs no shell, or name another shell with --shell"
	case e.Op == "find" && errors.Is(e.Err, fs.ErrNotExist):
		return fmt.Sprintf("program %q not found", e.Path)
	case e.Op == "find":
		return fmt.Sprintf("program %q cannot be executed: %v", e.Path, e.Err)
	case e.Op == "chdir" && errors.Is(e.Err, fs.ErrNotExist):
		return fmt.Sprintf("folder %q does not exist any more", e.Path)
	case errors.As(e.Err, new(missingInterpreter)):
		return fmt.Sprintf("program %q cannot be executed: %v", e.Path, e.Err)
	case e.Op == "chdir":
		return fmt.Sprintf("folder %q cannot be entered: %v", e.Path, e.Err)
	default:
		return fmt.Sprintf("%s %q: %v", e.Op, e.Path, e.Err)
	}
}

func (e *StartError) Unwrap() error { return e.Err }

// ExitCode returns what a shell would: 127 if the program does not exist, and 126 for every other
// reason.
func (e *StartError) ExitCode() int {
	if (e.Op == "find" || e.Op == "start") && errors.Is(e.Err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

// Start starts a child. The error is a *StartError, and then nothing was started.
func Start(spec Spec) (*Process, error) {
	return StartWhen(context.Background(), spec, func() error { return nil })
}

// StartWhen is Start, and calls begin when nothing is left to do that may take long. Before that,
// it asks the file systems on the way to the folder and the program. They have 10 seconds to
// answer, or until the deadline of ctx if that is earlier; then the error is ErrNoAnswer. If ctx is
// cancelled before begin is called, nothing is started and the error is ctx.Err(). An error of
// begin is returned as it is, and then nothing was started, either.
func StartWhen(ctx context.Context, spec Spec, begin func() error) (*Process, error) {
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		return nil, &StartError{"find", "", fs.ErrNotExist}
	}
	mount := spec.riskyMount()
	path := ""
	if mount == "" {
		err := begin()
		if err == nil {
			path, err = spec.find()
		}
		if err != nil {
			return nil, err
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, &StartError{"open", os.DevNull, err}
	}
	defer null.Close()
	files := [3]*os.File{spec.Stdin, spec.Stdout, spec.Stderr}
	for i, f := range files {
		if f == nil {
			files[i] = null
		}
	}
	if !spec.Foreground {
		resetSignals()
		if err := detachDescriptors(); err != nil {
			return nil, &StartError{"start", path, err}
		}
	}
	p := newProcess(context.Background())
	p.foreground = spec.Foreground
	if p.cgroup, err = spec.makeCgroup(); err != nil {
		return nil, err
	}
	p.started = time.Now()
	if mount != "" {
		err = p.startByStarter(ctx, spec, mount, files, func() error { p.started = time.Now(); return begin() })
	} else if err = p.start(path, spec, files); errors.Is(err, syscall.ENOSYS) && spec.Cgroups != nil {
		// It cannot be started in its cgroup, because clone3(2) is refused: systemd does so with
		// RestrictNamespaces=. A starter can be moved there before it executes the command.
		err = p.startByStarter(ctx, spec, "", files, func() error { return nil })
	} else if err != nil {
		err = spec.explain(path, err)
	}
	if err != nil {
		p.cgroup.remove()
		return nil, err
	}
	go p.watch()
	return p, nil
}

// errProbed keeps Probe from starting what it has examined.
var errProbed = errors.New("only probed")

// Probe returns why a child could not be started, as far as that can be told without starting it,
// or nil. It returns nil for a Spec that cannot hang, without a look at it: LookPath is quick then.
func Probe(ctx context.Context, spec Spec) error {
	if !spec.MayHang() {
		return nil
	}
	_, err := StartWhen(ctx, spec, func() error { return errProbed })
	if errors.Is(err, errProbed) {
		return nil
	}
	return err
}

// find returns the path of what is to be executed. It does not check an absolute path, because the
// system reports what is wrong with it when it executes it.
func (s Spec) find() (string, error) {
	if filepath.IsAbs(s.Argv[0]) && (s.Dir == "" || filepath.IsAbs(s.Dir)) && runtime.GOOS != "windows" {
		return s.Argv[0], nil
	}
	path, found := recentPaths.get(s.searchKey())
	if found {
		_, err := program(path)
		found = err == nil // it is still there
	}
	if found {
		return path, nil
	}
	if err := enterable(s.Dir); err != nil {
		return "", &StartError{"chdir", s.Dir, err}
	}
	path, err := s.lookPath()
	if err == nil {
		recentPaths.put(s.searchKey(), path)
	}
	return path, err
}

// lookPath is LookPath of the program.
func (s Spec) lookPath() (string, error) { return LookPath(s.Argv[0], pathOf(s.Env), s.Dir) }

// searchKey is the same for two Specs if a search for their programs looks at the same files.
func (s Spec) searchKey() string {
	return strings.Join([]string{s.Argv[0], s.Dir, pathOf(s.Env)}, "\x00")
}

// explain returns the StartError of a start that failed with err: it concerns the folder or the
// program if one of them is to blame, and otherwise has the words of the system.
func (s Spec) explain(path string, err error) error {
	if why := enterable(s.Dir); why != nil {
		return &StartError{"chdir", s.Dir, why}
	}
	if _, why := s.lookPath(); why != nil {
		return why
	}
	return &StartError{"start", path, blameInterpreter(path, err)}
}

// enterable returns why dir cannot be the folder of a child, or nil.
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

// reason is the cause inside a PathError, for messages that name the path already.
func reason(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}
