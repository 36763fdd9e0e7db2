package proc

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"
)

func TestPassing(t *testing.T) {
	for _, c := range []struct {
		err            error
		short, passing bool
	}{
		{nil, false, false},
		{syscall.EMFILE, true, true},
		{syscall.ENFILE, true, true},
		{syscall.ENOMEM, true, true},
		{syscall.EAGAIN, true, true},
		{syscall.ENOSPC, true, true},
		{syscall.ETXTBSY, false, true},
		{syscall.ENOENT, false, false},
		{syscall.EACCES, false, false},
		{syscall.ENOEXEC, false, false},
		{syscall.E2BIG, false, false},
		{errors.New("something else"), false, false},
	} {
		for _, err := range []error{c.err, &StartError{"open", "/x", c.err}, &StartError{"start", "/x", &fs.PathError{Op: "open", Path: "/x", Err: c.err}}} {
			if Short(err) != c.short || Passing(err) != c.passing {
				t.Errorf("%v: %v, %v", err, Short(err), Passing(err))
			}
		}
	}
}
