package proc

import (
	"errors"
	"io/fs"
)

// missingInterpreter is the error of a program that exists, but whose interpreter does not. It is
// also an fs.ErrNotExist, which alone would mean that the program does not exist.
type missingInterpreter string

func (name missingInterpreter) Error() string {
	return "its interpreter " + string(name) + " does not exist"
}

func (missingInterpreter) Is(err error) bool { return err == fs.ErrNotExist }

// blameInterpreter returns err, the error of a start of the program at path, or missingInterpreter
// if the system says that a file does not exist and it is the interpreter.
func blameInterpreter(path string, err error) error {
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
	return missingInterpreter(name)
}
