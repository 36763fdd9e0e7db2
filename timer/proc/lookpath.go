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
// relative to dir, too. The result is absolute if dir is. The error is a *StartError: no file has
// the name, or none that has it can be executed.
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

// under returns name as a path, relative to dir.
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

// recentPaths are the programs that were found less than recentFor ago, by Spec.searchKey.
var recentPaths recent

// recent is a cache of results less than recentFor old, so that many starts of the same program
// need only one search.
type recent struct {
	mu     sync.Mutex
	values map[string]string
	since  time.Time // the age of the oldest value
}

// recentFor is how long a result is used.
const recentFor = time.Second

func (r *recent) get(key string) (value string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.since) >= recentFor {
		return "", false
	}
	value, ok = r.values[key]
	return value, ok
}

func (r *recent) put(key, value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.values == nil || time.Since(r.since) >= recentFor {
		r.values, r.since = map[string]string{}, time.Now()
	}
	r.values[key] = value
}

func (r *recent) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.values = nil
}

// pathOf returns the PATH of an environment. As in a shell, the last one counts. If there is none,
// the result is the default of the system.
func pathOf(env []string) string {
	path := defaultPath
	for _, kv := range env {
		if key, value, found := strings.Cut(kv, "="); found && sameKey(key, "PATH") {
			path = value
		}
	}
	return path
}
