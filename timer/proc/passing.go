package proc

import (
	"errors"
	"slices"
	"syscall"
)

// shortages are what a process, a user or a machine has no more of for now: files, processes,
// memory, room on the disk.
var shortages = []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN, syscall.ENOBUFS, syscall.ENOSPC, syscall.EDQUOT}

// Short reports whether Start failed for want of what others have and give back. Whatever else were
// started now would meet the same.
func Short(err error) bool {
	return slices.ContainsFunc(shortages, func(of error) bool { return errors.Is(err, of) })
}

// ErrNoAnswer is the error of a start for which a file system did not answer in time.
var ErrNoAnswer = errors.New("the file system it is on does not answer")

// Passing reports whether what Start failed for passes by itself, so that the same start may
// succeed later: a shortage, or a program that somebody is writing (ETXTBSY), or a file system that
// does not answer.
func Passing(err error) bool {
	return Short(err) || errors.Is(err, syscall.ETXTBSY) || errors.Is(err, ErrNoAnswer)
}
