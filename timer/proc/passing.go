package proc

import (
	"errors"
	"slices"
	"syscall"
)

// shortages are the errors of the system when a process, a user or the machine has no more files,
// processes, memory or room on the disk for now.
var shortages = []error{
	syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN, syscall.ENOBUFS, syscall.ENOSPC, syscall.EDQUOT,
}

// Short reports whether Start failed because a resource is used up that other processes will give
// back. Any other start would fail the same way now.
func Short(err error) bool {
	return slices.ContainsFunc(shortages, func(of error) bool { return errors.Is(err, of) })
}

// ErrNoAnswer is the error of a start for which a file system did not answer in time.
var ErrNoAnswer = errors.New("the file system it is on does not answer")

// Passing reports whether the reason why Start failed passes by itself, so that the same start may
// succeed later: a shortage, a program that another process is writing (ETXTBSY), or a file system
// that does not answer.
func Passing(err error) bool {
	return Short(err) || errors.Is(err, syscall.ETXTBSY) || errors.Is(err, ErrNoAnswer)
}
