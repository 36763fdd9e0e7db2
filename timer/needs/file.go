package needs

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// TextMost is how long a file may be that Text reads.
const TextMost = 64 << 10

var (
	errNoFile = errors.New("it is not a plain file")
	errLong   = errors.New("it is longer than 64 KiB")
)

// Text is what a file has. Its error does not name the file. A pipe is not read, nor is anything
// else that may never end.
func (f *Finder) Text(ctx context.Context, path string) (string, error) {
	if err := answers(ctx, proc.Spec{Argv: []string{Shell}, Dir: filepath.Dir(path), Umask: -1}); err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", errors.Unwrap(err)
	case !info.Mode().IsRegular():
		return "", errNoFile
	}
	file, err := os.Open(path)
	if err != nil {
		return "", errors.Unwrap(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, TextMost+1))
	if err == nil && len(text) > TextMost {
		err = errLong
	}
	return string(text), err
}
