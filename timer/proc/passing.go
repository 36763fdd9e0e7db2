package proc

import (
	"errors"
	"slices"
	"syscall"
)

// shortages are lacks of what a process, a user or a machine has too little of for now: files,
// processes, memory, room on the disk.
var shortages = []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN, syscall.ENOBUFS, syscall.ENOSPC, syscall.EDQUOT}

// Short reports whether Start failed for lack of something that others have and give back. Any
// other start now would fail the same way.
func Short(err error) bool {
	return slices.ContainsFunc(shortages, func(of error) bool { return errors.Is(err, of) })
}

// ErrNoAnswer is the error of a start for which a file system did not answer in time.
var ErrNoAnswer = errors.New("the file system it is on does not answer")

// Passing reports whether the reason why Start failed passes by itself, so that the same start may
// succeed later: a shortage, a program that somebody is writing (ETXTBSY), or a file system that
// does not answer.
func Passing(err error) bool {
	return Short(err) || errors.Is(err, syscall.ETXTBSY) || errors.Is(err, ErrNoAnswer)
}
