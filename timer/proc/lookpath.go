package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// LookPath finds the program name as a shell in dir would, with path as its PATH instead of ours. A
// name with a slash is used as it is, relative to dir. An empty or relative element of path is
// relative to dir, too. The answer is absolute if dir is. The error is a *StartError: the program
// is nowhere, or all files of that name cannot be executed.
func LookPath(name, path, dir string) (string, error) {
	if name == "" {
		return "", &StartError{"find", name, fs.ErrNotExist}
	}
	why := error(fs.ErrNotExist)
	for _, file := range candidates(name, path, dir) {
		found, err := program(file)
		if err == nil {
			return found, nil
		}
		if isPath(name) || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			why = err
		}
	}
	return "", &StartError{"find", name, why}
}

// isPath reports whether the name of a program is a path.
func isPath(name string) bool {
	return strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator)
}

// candidates returns the files that may be a program, in the order of search.
func candidates(name, path, dir string) (files []string) {
	if isPath(name) {
		return []string{under(dir, name)}
	}
	for _, folder := range filepath.SplitList(path) {
		if folder == "" {
			folder = "."
		}
		files = append(files, under(dir, filepath.Join(folder, name)))
	}
	return files
}

// under is name seen from dir.
func under(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	if dir == "" {
		if here, err := os.Getwd(); err == nil {
			dir = here
		}
	}
	return filepath.Join(dir, name)
}

// lately are the programs that were found a moment ago.
var lately recent

// found returns where a program was found a moment ago and still is.
func found(way string) (path string, ok bool) {
	path, ok = lately.answer(way)
	if !ok {
		return "", false
	}
	_, err := program(path)
	return path, err == nil
}

// recent keeps answers of the last moment, so that many starts of the same program need only one
// search.
type recent struct {
	mu      sync.Mutex
	answers map[string]string // by what was asked
	since   time.Time         // since then
}

// recentMost is how long an answer is used.
const recentMost = time.Second

func (r *recent) answer(to string) (text string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.since) >= recentMost {
		return "", false
	}
	text, ok = r.answers[to]
	return text, ok
}

func (r *recent) note(to, answer string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers == nil || time.Since(r.since) >= recentMost {
		r.answers, r.since = map[string]string{}, time.Now()
	}
	r.answers[to] = answer
}

func (r *recent) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = nil
}

// pathOf is the PATH of an environment. As in a shell, the last one counts. Without any, it is the
// default of POSIX systems.
func pathOf(env []string) string {
	path := defaultPath
	for _, kv := range env {
		if key, value, found := strings.Cut(kv, "="); found && sameKey(key, "PATH") {
			path = value
		}
	}
	return path
}
