package proc

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A file system on another machine, or of a process that hangs, may never answer. Who enters a
// folder there, or looks for a program, is then stopped inside the kernel, and not even KILL ends
// that. In a child between fork and exec it stops us as well: the thread that forks waits for it in
// a call that the runtime does not know of, so that the next garbage collection waits for that
// thread, and everything for the collection. In a thread of ours it would keep our process, and the
// locks that it has, from coming to an end.
//
// Therefore what may not be answered is asked by another process, the starter. It is this very
// program, executed from where nothing hangs, as the child that the command is to be. It enters the
// folder, looks for the program, says that it is ready, and only when it is told to go it executes
// the program in its own place. As long as it was not told, nothing has begun, whatever becomes of
// it.

// starterName is what the starter is called by.
const starterName = "ouro-timer (starting)"

// starterFile is its end of the connection.
const starterFile = 3

// answerMost is how long a file system has to answer. A variable for tests.
var answerMost = 10 * time.Second

const (
	// silentMost is how many starters wait for the file systems of one mount point, starterMost how
	// many for all, before no more are begun there.
	silentMost  = 2
	starterMost = 16
)

// What a starter says.
const (
	saysFolder  = 'f' // it enters the folder
	saysProgram = 'p' // it looks for the program
	saysReady   = 'r' // it waits to be told to go
	saysError   = 'e' // why it cannot start the program; the rest says it
)

// finderName is what this program is called by that looks for another one and executes it, and no
// more: see Elsewhere.
const finderName = "ouro-timer (finding)"

func init() {
	switch {
	case len(os.Args) == 1 && os.Args[0] == starterName:
		beStarter(os.NewFile(starterFile, "starter"))
	case len(os.Args) > 2 && os.Args[0] == finderName:
		beFinder(os.Args[1], os.Args[2:])
	case len(os.Args) > 5 && os.Args[1] == limiterName:
		beLimiter(os.Args[2:])
	}
}

// Elsewhere is, of a command that may hang, the one that finds and executes it in the process that
// it is given: who starts that is not stopped. It is for packages that start programs with the
// standard library. Not ok: the command need not be treated so.
func Elsewhere(argv []string, path string) (program string, args []string, ok bool) {
	if !(Spec{Argv: argv, Dir: "/", Env: []string{"PATH=" + path}}).MayHang() {
		return "", nil, false
	}
	exe, err := Executable()
	return exe, append([]string{finderName, path}, argv...), err == nil
}

// beFinder does not return.
func beFinder(path string, argv []string) {
	found, err := LookPath(argv[0], path, "")
	if err == nil {
		err = &StartError{"start", found, lacking(found, syscall.Exec(found, argv, os.Environ()))}
	}
	se := new(StartError)
	errors.As(err, &se)
	os.Stderr.WriteString(se.Error() + "\n")
	os.Exit(se.ExitCode())
}

// beStarter is what the starter does. It does not return.
func beStarter(to *os.File) {
	unix.CloseOnExec(starterFile)
	spec, err := readOrder(to)
	if err != nil {
		os.Exit(126) // somebody has called us by its name
	}
	say := func(what byte) {
		if _, err := to.Write([]byte{what}); err != nil {
			os.Exit(126) // nobody waits for us any more
		}
	}
	fail := func(err error) {
		se := new(StartError)
		errors.As(err, &se)
		_, _ = to.Write(errorText(se)) // the exit code says that much, too
		os.Exit(se.ExitCode())
	}
	say(saysFolder)
	err = enterable(spec.Dir)
	if err == nil && spec.Dir != "" {
		err = reason(os.Chdir(spec.Dir))
	}
	if err != nil {
		fail(&StartError{"chdir", spec.Dir, err})
	}
	say(saysProgram)
	path, err := spec.find()
	if err != nil {
		fail(err)
	}
	// What the kernel will read: what cannot be read here it cannot execute either, and says so.
	if name := interpreterOf(path); name != "" {
		_, _ = firstLine(name)
	}
	say(saysReady)
	if n, _ := to.Read(make([]byte, 1)); n != 1 {
		os.Exit(126)
	}
	fail(spec.why(path, execute(path, spec.Argv, spec.Env)))
}

// orderMost bounds an order, in bytes: more than any kernel takes for a program.
const orderMost = 64 << 20

// orderText is what a starter is to do: the length of what follows, and strings, each with a NUL
// behind it, of which none has one in it.
func orderText(spec Spec) ([]byte, error) {
	words := append([]string{spec.Dir, strconv.Itoa(len(spec.Argv))}, spec.Argv...)
	words = append(words, spec.Env...)
	text := []byte{0, 0, 0, 0}
	for _, w := range words {
		if strings.IndexByte(w, 0) >= 0 {
			return nil, syscall.EINVAL
		}
		text = append(append(text, w...), 0)
	}
	binary.BigEndian.PutUint32(text, uint32(len(text)-4))
	return text, nil
}

func readOrder(from io.Reader) (spec Spec, err error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(from, head); err != nil {
		return spec, err
	}
	size := binary.BigEndian.Uint32(head)
	if size > orderMost {
		return spec, io.ErrUnexpectedEOF
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(from, text); err != nil {
		return spec, err
	}
	words := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	if len(words) < 3 {
		return spec, io.ErrUnexpectedEOF
	}
	n, err := strconv.Atoi(words[1])
	if err != nil || n < 1 || n > len(words)-2 {
		return spec, io.ErrUnexpectedEOF
	}
	spec.Dir, spec.Argv, spec.Env = words[0], words[2:2+n], words[2+n:]
	return spec, nil
}

// errorText is a StartError as a starter tells it.
func errorText(e *StartError) []byte {
	kind, text := "text", e.Err.Error()
	var number syscall.Errno
	var lacks lackingInterpreter
	switch {
	case errors.As(e.Err, &lacks):
		kind, text = "lacks", string(lacks)
	case errors.As(e.Err, &number):
		kind, text = "errno", strconv.Itoa(int(number))
	case errors.Is(e.Err, fs.ErrNotExist):
		kind = "none"
	}
	return append([]byte{saysError}, strings.Join([]string{e.Op, e.Path, kind, text}, "\x00")...)
}

func readError(text string) error {
	f := strings.SplitN(text, "\x00", 4)
	if len(f) < 4 {
		return errStarterDied
	}
	err := errors.New(f[3])
	switch f[2] {
	case "lacks":
		err = lackingInterpreter(f[3])
	case "none":
		err = fs.ErrNotExist
	case "errno":
		if n, e := strconv.Atoi(f[3]); e == nil {
			err = syscall.Errno(n)
		}
	}
	return &StartError{f[0], f[1], err}
}

// errStarterDied is of a starter that was killed. It may be that memory has run out, and that
// passes.
var errStarterDied = &StartError{"start", starterName, syscall.EAGAIN}

// waiting are the starters that were given up, as they had no answer in time, by the mount point
// that they wait for. They are left alone: that one has no answer yet says that another one would
// have none, either. One that has it ends, as nobody tells it to go.
var waiting = struct {
	sync.Mutex
	at  map[string]int
	all map[*Process]bool
}{at: map[string]int{}, all: map[*Process]bool{}}

// AbandonStarts kills the starters that wait for an answer which they have no use for any more. It
// is for the end of the program.
func AbandonStarts() {
	waiting.Lock()
	defer waiting.Unlock()
	for p := range waiting.all {
		_ = p.signal(syscall.SIGKILL) // of one that waits inside the kernel its effect comes later
	}
}

// noAnswer is the error of a start that waits for a mount point, in words for what it was about to
// do.
func (s Spec) noAnswer(what byte) error {
	if what == saysFolder && s.Dir != "" {
		return &StartError{"chdir", s.Dir, ErrNoAnswer}
	}
	return &StartError{"find", s.Argv[0], ErrNoAnswer}
}

// startSlowly starts the command by way of a starter. It calls begin when nothing more is to be
// asked of the mount point.
func (p *Process) startSlowly(ctx context.Context, spec Spec, point string, files [3]*os.File, begin func() error) error {
	waiting.Lock()
	full := waiting.at[point] >= silentMost || len(waiting.all) >= starterMost
	waiting.Unlock()
	if full {
		if at, _ := newWays().silentPoint(spec.Dir); at == point {
			return spec.noAnswer(saysFolder)
		}
		return spec.noAnswer(saysProgram)
	}
	asked := spec
	_, argv, err := spec.limited(spec.Argv[0])
	if err == nil {
		asked.Argv = argv
	}
	order, err := orderText(asked)
	if err != nil {
		return &StartError{"start", spec.Argv[0], err}
	}
	conn, err := p.hire(spec, files)
	if err != nil {
		return &StartError{"start", spec.Argv[0], err}
	}
	most := time.Now().Add(answerMost)
	if sooner, ok := ctx.Deadline(); ok && sooner.Before(most) {
		most = sooner
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	conn.SetDeadline(most)
	if ctx.Err() != nil {
		conn.SetDeadline(time.Unix(1, 0))
	}
	what := byte(saysFolder)
	if _, err = conn.Write(order); err == nil {
		what, err = heard(conn)
	}
	switch {
	case what == saysReady && err == nil:
	case errors.Is(ctx.Err(), context.Canceled):
		p.dismiss(conn, true)
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		waiting.Lock()
		waiting.at[point]++
		waiting.all[p] = true
		waiting.Unlock()
		go p.awaitAnswer(conn, point)
		return spec.noAnswer(what)
	default:
		p.dismiss(conn, false)
		return err
	}
	if err := begin(); err != nil {
		p.dismiss(conn, false)
		return err
	}
	// From here on it counts as started, also when ctx ends. Should the file system be silent just
	// now, it is a command that does not come to its end.
	stop()
	conn.SetDeadline(time.Now().Add(answerMost))
	if _, err = conn.Write([]byte{0}); err == nil {
		_, err = heard(conn)
	}
	if se := new(StartError); errors.As(err, &se) && se != errStarterDied {
		p.dismiss(conn, false)
		return se
	}
	conn.Close()
	return nil
}

// hire starts a starter, and returns our end of the connection with it.
func (p *Process) hire(spec Spec, files [3]*os.File) (*os.File, error) {
	exe, err := Executable()
	if err != nil {
		return nil, err
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(ends[1])
	if err := unix.SetNonblock(ends[0], true); err != nil {
		unix.Close(ends[0])
		return nil, err
	}
	conn := os.NewFile(uintptr(ends[0]), "starter")
	attr := &syscall.ProcAttr{Dir: "/", Env: []string{},
		Files: []uintptr{files[0].Fd(), files[1].Fd(), files[2].Fd(), uintptr(ends[1])}, Sys: &syscall.SysProcAttr{Setpgid: true}}
	started, err := p.child.prepare(attr, p.cgroup)
	if err != nil {
		conn.Close()
		return nil, err
	}
	defer started()
	f := spawn(exe, []string{starterName}, attr, spec.Umask)
	if f.err != nil {
		conn.Close()
		return nil, f.err
	}
	p.pid, p.countedIn = f.pid, countedIn()
	p.identity = identify(f.pid)
	return conn, nil
}

// heard is the last that a starter has said before it waits for us, or has executed the program,
// which is the end of the connection without an error. What it says of an error is the error.
func heard(conn *os.File) (what byte, err error) {
	what = saysFolder
	said := make([]byte, 1)
	for {
		n, err := conn.Read(said)
		switch {
		case n == 1 && said[0] == saysError:
			text, err := io.ReadAll(io.LimitReader(conn, 64<<10))
			if err != nil {
				return what, err
			}
			return what, readError(string(text))
		case n == 1:
			what = said[0]
			if what == saysReady {
				return what, nil
			}
		case errors.Is(err, io.EOF):
			return what, errStarterDied
		case err != nil:
			return what, err
		}
	}
}

// dismiss lets go of a starter that starts nothing, and waits for its end, in the background.
func (p *Process) dismiss(conn *os.File, kill bool) {
	if kill {
		_ = p.signal(syscall.SIGKILL) // it is our child, and was not waited for
	}
	conn.Close() // it ends when it finds nobody there
	go p.bury()
}

// bury waits for the end of a child of which nothing more is wanted.
func (p *Process) bury() {
	p.awaitExit()
	for {
		if _, err := unix.Wait4(p.pid, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}

// awaitAnswer waits for the end of a starter that had no answer in time. Until it has one it is
// among those that wait for the mount point.
func (p *Process) awaitAnswer(conn *os.File, point string) {
	conn.SetDeadline(time.Time{})
	_, _ = heard(conn) // whatever it is
	waiting.Lock()
	if waiting.at[point]--; waiting.at[point] == 0 {
		delete(waiting.at, point)
	}
	delete(waiting.all, p)
	waiting.Unlock()
	conn.Close()
	p.bury()
}
