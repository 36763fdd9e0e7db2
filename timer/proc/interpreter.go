package proc

import (
	"errors"
	"io/fs"
)

// A lacking interpreter is a program that is there, and for which the one is not that is to run it.
// It is fs.ErrNotExist, which alone would say that the program is not there.
type lackingInterpreter string

func (name lackingInterpreter) Error() string {
	return "there is no " + string(name) + " here, which is to run it"
}

func (lackingInterpreter) Is(err error) bool { return err == fs.ErrNotExist }

// lacking is err, of a start of a program, or what that program lacks where the system only says
// that something is not there.
func lacking(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	name := interpreterOf(path)
	if name == "" {
		return err
	}
	if _, e := program(name); !errors.Is(e, fs.ErrNotExist) {
		return err
	}
	return lackingInterpreter(name)
}
