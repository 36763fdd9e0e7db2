package health

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// clockLag is how far the clock of a file system may be behind the clock that Since was read from:
// the kernel moves it up to a hundred times a second. A file that was changed just after Since must
// not look older for ever.
const clockLag = 10 * time.Millisecond

// file is healthy when the file is there and is as Options.File demands.
func (l *attempter) file() observation {
	info, err := os.Stat(l.target.arg)
	if err != nil {
		return observation{err: absent(err, NoFile)}
	}
	// the age of a file is measured by the wall clock
	return observation{err: l.File.judge(l.target.arg, info, time.Now().Round(0))}
}

// judge returns what is wrong with a file that is there.
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
		case err != nil: // this says nothing about the file
			missing := *absent(err, NoFile)
			missing.Beside, missing.inconclusive = printable(f.NewerThanFile), true
			return &missing
		case !changed.After(reference.ModTime()):
			return &fault{Cause: newCause(NotNewer, f.NewerThanFile), rank: broken}
		}
	}
	if !f.Since.IsZero() && changed.Add(clockLag).Before(f.Since) {
		return &fault{Cause: Cause{Kind: Changed, At: changed}, rank: broken}
	}
	if age := now.Sub(changed); f.Within > 0 && age > f.Within {
		return &fault{Cause: Cause{Kind: Changed, Span: age.Truncate(ageUnit(age))}, rank: broken}
	}
	return nil
}

// ageUnit returns how precisely a person wants to know an age.
func ageUnit(age time.Duration) time.Duration {
	switch {
	case age >= time.Hour:
		return time.Minute
	case age >= time.Minute:
		return time.Second
	}
	return time.Millisecond
}

// isEmpty reports whether a file has no bytes, or a folder no entries.
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

// absent returns the fault of a path that the system cannot open. Only the answer that nothing is
// there says something about the target.
func absent(err error, none Kind) *fault {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &fault{Cause: Cause{Kind: none}}
	case errors.Is(err, syscall.ENOTDIR):
		return &fault{Cause: Cause{Kind: NoDirectory}, rank: broken}
	}
	f := *explain(err, answering)
	f.inconclusive = true
	return &f
}
