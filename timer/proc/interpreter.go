package proc

import (
	"errors"
	"io/fs"
)

// lackingInterpreter is an existing program whose interpreter does not exist. It is fs.ErrNotExist,
// which alone would mean that the program does not exist.
type lackingInterpreter string

func (name lackingInterpreter) Error() string {
	return "there is no " + string(name) + " here, which is to run it"
}

func (lackingInterpreter) Is(err error) bool { return err == fs.ErrNotExist }

// lacking returns err, of a start of a program, or what the program lacks if the system only says
// that something does not exist.
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
