package handover

import (
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// maxLog is the size in bytes at which the log of runners in the background is rotated. One old log
// is kept.
const maxLog = 1 << 20

// maxLogRead is how many bytes of such a log are read, because others may write to it.
const maxLogRead = 64 << 20

// runnerLogPath returns the path of the log of runners in the background.
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
	info, err := file.Stat()
	if err != nil {
		return s.Err
	}
	if log, err := os.Stat(path); err != nil || !os.SameFile(info, log) {
		return s.Err // the runner was started by hand and writes elsewhere
	}
	return &runnerLog{path: path, to: file, size: info.Size()}
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
	if l.size > maxLog {
		l.rotate()
	}
	return n, err
}

// rotate copies the log to its second name and empties it, so that every process that has it open
// keeps the same file. A line that another process writes in between may be lost; nothing depends
// on it.
func (l *runnerLog) rotate() {
	mine, err := l.to.Stat()
	if there, e := os.Stat(l.path); err != nil || e != nil || !os.SameFile(mine, there) {
		return // the state was removed or moved away, and another runner may log there
	}
	if text, err := plainfile.Read(l.path, maxLogRead, nil); err == nil {
		old := l.path + ".1"
		_ = os.Remove(old + ".new") // the file of a process that died
		if os.WriteFile(old+".new", text[max(0, len(text)-2*maxLog):], 0o600) == nil {
			// an error could only be written to this log
			_ = os.Rename(old+".new", old)
		}
	}
	if os.Truncate(l.path, 0) == nil {
		l.size = 0
	}
}
