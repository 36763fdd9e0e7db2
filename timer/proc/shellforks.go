package proc

import (
	"os"
	"sync"
	"syscall"
	"time"
)

// shellForks reports whether the system's dash forks for the last command of a text and waits for it, as Debian's does. Others give their
// place to it, and then die themselves of what it dies of. It is found out when it is first asked. A variable so that tests can answer.
var shellForks func() bool

func init() { // which may refer to Start, as the declaration may not
	shellForks = sync.OnceValue(func() bool { return forks("/bin/dash", 5*time.Second) })
}

// forks sees how a shell ends whose last command dies of a signal. One that does not say within the time is taken to fork.
func forks(prog string, most time.Duration) bool {
	in, script, err := os.Pipe()
	if err != nil {
		return true
	}
	defer in.Close()
	_, err = script.WriteString("kill -KILL $$\n") // of the inner shell
	script.Close()
	if err != nil {
		return true
	}
	p, err := Start(Spec{Argv: []string{prog, "-c", shell}, Dir: "/", Env: []string{"PATH=" + defaultPath}, Umask: -1, Stdin: in})
	if err != nil {
		return true
	}
	over := time.NewTimer(most)
	defer over.Stop()
	select {
	case <-p.Done():
		return p.Wait().Signal == ""
	case <-over.C:
		_ = p.SignalGroup(syscall.SIGKILL)
		return true
	}
}
