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

// LookPath finds the program name as a shell in dir would, with path as its PATH instead of ours. A name with a slash is
// taken as it is, relative to dir; an empty or relative element of path is relative to dir too. The answer is absolute
// if dir is. The error is a *StartError: the program is nowhere, or the only ones of that name cannot be executed.
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

// isPath reports whether the name of a program is where it is.
func isPath(name string) bool {
	return strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator)
}

// candidates are the files that may be a program, in the order in which they are looked at.
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
var lately looks

// looks are where programs were found, so that of a crowd of the same program not each asks every folder on its PATH.
type looks struct {
	mu    sync.Mutex
	paths map[string]string // by what was looked for, where
	since time.Time         // since then
}

// lookMost is how long a program counts as the first of its name, while it is there.
const lookMost = time.Second

// found is where a program was found a moment ago, and still is.
func (l *looks) found(way string) (path string, ok bool) {
	l.mu.Lock()
	if time.Since(l.since) < lookMost {
		path = l.paths[way]
	}
	l.mu.Unlock()
	if path == "" {
		return "", false
	}
	_, err := program(path)
	return path, err == nil
}

// note remembers where a program was found.
func (l *looks) note(way, path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paths == nil || time.Since(l.since) >= lookMost {
		l.paths, l.since = map[string]string{}, time.Now()
	}
	l.paths[way] = path
}

// pathOf is the PATH of an environment. The last one counts, as in a shell; without any it is the default of POSIX
// systems.
func pathOf(env []string) string {
	path := defaultPath
	for _, kv := range env {
		if key, value, found := strings.Cut(kv, "="); found && sameKey(key, "PATH") {
			path = value
		}
	}
	return path
}
