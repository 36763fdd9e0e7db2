package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state/plainfile"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// sizeMost is the size of the largest file that is read. Some clients keep much else in the file of
// their servers.
const sizeMost = 64 << 20

// Change is a change of a file, or none.
type Change struct {
	Path   string // the path of the file, as the client names it
	Effect Effect
	Entry  string // the text of the entry in the file

	before, after []byte
}

// Effect is the effect of a change.
type Effect string

// These are the effects.
const (
	Nothing Effect = ""
	Add     Effect = "add"
	Replace Effect = "replace"
	Remove  Effect = "remove"
)

// edited is a text after an edit, with the effect and the entry.
type edited struct {
	after  []byte
	effect Effect
	entry  string
}

// plan returns the change that edit makes to the file at a path. A file that does not exist counts
// as empty.
func plan(path string, edit func(text []byte) (edited, error)) (Change, error) {
	before, _, err := read(path)
	if err != nil {
		return Change{}, err
	}
	e, err := edit(before)
	if err != nil {
		return Change{}, unreadable(path, err)
	}
	c := Change{Path: path, Effect: e.effect, Entry: e.entry, before: before, after: e.after}
	if bytes.Equal(before, e.after) {
		c.Effect = Nothing
	}
	return c, nil
}

// Skill returns the change that puts a skill at a path, which names its file or a folder for it. It
// refuses to replace a file that is not a skill of that name.
func Skill(path, text string) (Change, error) {
	info, err := os.Stat(path)
	if folder := err == nil && info.IsDir(); folder || strings.HasSuffix(path, string(filepath.Separator)) {
		if filepath.Base(path) != server {
			path = filepath.Join(path, server)
		}
		path = filepath.Join(path, "SKILL.md")
	}
	before, there, err := read(path)
	if err != nil {
		return Change{}, err
	}
	c := Change{Path: path, before: before, after: []byte(text)}
	switch {
	case !there:
		c.Effect = Add
	case bytes.Equal(c.before, c.after):
	case !bytes.HasPrefix(c.before, []byte("---\nname: "+server+"\n")):
		return c, problem.New(problem.Failed, problem.T("%s is not the skill %s", path, server),
			problem.T("name another path, or move that file away first"))
	default:
		c.Effect = Replace
	}
	return c, nil
}

// Do makes the change. It replaces the file as a whole, follows links, and keeps the mode. It fails
// if the file has changed since it was read.
func (c Change) Do() error {
	path := c.Path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if _, err := os.Lstat(path); err == nil {
		return problem.New(problem.Failed, problem.T("%s is a link to a file that does not exist", path),
			problem.T("create that file, or remove the link"))
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return unwritable(c.Path, err)
	}
	now, _, err := read(path)
	if err == nil && !bytes.Equal(now, c.before) {
		err = problem.New(problem.Failed, problem.T("%s has changed in the meantime, and was not written", c.Path),
			problem.T("call it again"))
	}
	if err != nil {
		return err
	}
	if err := replace(path, c.after); err != nil {
		return unwritable(c.Path, err)
	}
	return nil
}

// replace writes a file whole, with the mode that it has. Only its owner can read a new file,
// because it may have secrets.
func replace(path string, text []byte) error {
	mode := os.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return plainfile.Replace(path, text, mode)
}

// read returns the text of a file, and whether the file exists.
func read(path string) (text []byte, there bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err == nil && !info.Mode().IsRegular(): // opening a pipe could block
		err = errors.New("it is not a plain file")
	case err == nil && info.Size() > sizeMost:
		err = fmt.Errorf("it is larger than %d MiB", sizeMost>>20)
	}
	if err != nil {
		return nil, true, unreadable(path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, true, unreadable(path, err)
	}
	defer f.Close()
	if text, err = io.ReadAll(io.LimitReader(f, sizeMost+1)); err == nil && !utf8.Valid(text) {
		err = errors.New("it is not UTF-8")
	}
	if err != nil {
		return nil, true, unreadable(path, err)
	}
	return text, true, nil
}

// unreadable is the problem of a file that cannot be read or edited.
func unreadable(path string, err error) error {
	return problem.New(problem.Failed, problem.T("%s cannot be used: %v", path, withoutPath(err)),
		problem.T("nothing was changed in it; correct it, or add the entry by hand"))
}

// unwritable is the problem of a file that cannot be written.
func unwritable(path string, err error) error {
	return problem.New(problem.Failed, problem.T("%s could not be written: %v", path, withoutPath(err)),
		problem.T("nothing was changed; see who may write to %s", filepath.Dir(path)))
}

// withoutPath removes the path from an error of the system, because the message has the path
// already.
func withoutPath(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}
