package health

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// tick is how far the clock that file systems stamp changes with may lag behind the clock that
// Since was read from: the kernel moves it up to a hundred times a second. A file that was changed
// just after Since must not look older for ever.
const tick = 10 * time.Millisecond

// file is healthy when it is there and all that Options.File asks is so.
func (l *looker) file() view {
	info, err := os.Stat(l.target.arg)
	if err != nil {
		return view{err: absent(err, NoFile)}
	}
	// the age of a file is of the wall clock
	return view{err: l.File.judge(l.target.arg, info, time.Now().Round(0))}
}

// judge asks of a file that is there what is not so.
func (f File) judge(path string, info os.FileInfo, now time.Time) error {
	changed := info.ModTime()
	if f.NonEmpty {
		empty, err := isEmpty(path, info)
		switch {
		case err != nil:
			return absent(err, NoFile)
		case empty:
			return &fault{Cause: Cause{Kind: Empty}, rank: broken}
		}
	}
	if f.NewerThanFile != "" {
		reference, err := os.Stat(f.NewerThanFile)
		switch {
		case err != nil: // says nothing about the file
			missing := *absent(err, NoFile)
			missing.Beside, missing.unseen = printable(f.NewerThanFile), true
			return &missing
		case !changed.After(reference.ModTime()):
			return &fault{Cause: of(NotNewer, f.NewerThanFile), rank: broken}
		}
	}
	if !f.Since.IsZero() && changed.Add(tick).Before(f.Since) {
		return &fault{Cause: Cause{Kind: Changed, At: changed}, rank: broken}
	}
	if age := now.Sub(changed); f.Within > 0 && age > f.Within {
		return &fault{Cause: Cause{Kind: Changed, Span: age.Truncate(grain(age))}, rank: broken}
	}
	return nil
}

// grain is how finely a person wants to know an age.
func grain(age time.Duration) time.Duration {
	switch {
	case age >= time.Hour:
		return time.Minute
	case age >= time.Minute:
		return time.Second
	}
	return time.Millisecond
}

// isEmpty reports whether a file has no byte, or a folder no entry.
func isEmpty(path string, info os.FileInfo) (bool, error) {
	if !info.IsDir() {
		return info.Size() == 0, nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer dir.Close()
	_, err = dir.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

// absent is what the system says about a path. Unless it says that nothing is there, that says
// nothing about what is.
func absent(err error, none Kind) *fault {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &fault{Cause: Cause{Kind: none}}
	case errors.Is(err, syscall.ENOTDIR):
		return &fault{Cause: Cause{Kind: NoDirectory}, rank: broken}
	}
	f := *explain(err, answering)
	f.unseen = true
	return &f
}
