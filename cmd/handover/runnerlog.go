package handover

import (
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// logMost is the size at which the log of runners in the background is rotated. One old log is
// kept.
const logMost = 1 << 20

// logRead is how much of such a log is read, because others may write to it.
const logRead = 64 << 20

// runnerLogPath is the log of runners in the background.
func runnerLogPath(s *cli.Call) (string, error) {
	home, err := s.Home()
	return filepath.Join(home, "runs", "runner.log"), err
}

// OpenRunnerLog returns standard error. When it is the log of runners, it is rotated so that it
// does not grow without bound.
func OpenRunnerLog(s *cli.Call) io.Writer {
	path, err := runnerLogPath(s)
	file, ok := s.Err.(*os.File)
	if err != nil || !ok {
		return s.Err
	}
	is, err := file.Stat()
	if err != nil {
		return s.Err
	}
	if at, err := os.Stat(path); err != nil || !os.SameFile(is, at) {
		return s.Err // the runner was started by hand and writes elsewhere
	}
	return &runnerLog{path: path, to: file, size: is.Size()}
}

// runnerLog is a log file that other processes append to: a runner that has stepped down, and Go
// itself when a program crashes.
type runnerLog struct {
	path string
	to   *os.File // opened to append

	mu   sync.Mutex
	size int64
}

func (l *runnerLog) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.to.Write(text)
	l.size += int64(n)
	if l.size > logMost {
		l.rotate()
	}
	return n, err
}

// rotate copies the log to its second name and empties it, so that everybody who has it open goes
// on with the same file. A line that another process writes in between may be lost: it is talk.
func (l *runnerLog) rotate() {
	if text, err := plainfile.Read(l.path, logRead, nil); err == nil {
		old := l.path + ".1"
		_ = os.Remove(old + ".new") // the file of a process that died
		if os.WriteFile(old+".new", text[max(0, len(text)-2*logMost):], 0o600) == nil {
			// an error could only be written to this log
			_ = os.Rename(old+".new", old)
		}
	}
	if os.Truncate(l.path, 0) == nil {
		l.size = 0
	}
}
