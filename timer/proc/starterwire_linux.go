package proc

import (
	"encoding/gob"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// This file is what a starter does, and what it and its parent write to each other.
// starter_linux.go is the parent.
//
// The parent writes a startRequest, the starter a report for each phase. After phaseReady it waits
// for a byte that tells it to execute the program, which closes the connection. A failure is
// reported instead of any phase.

// starterFile is the descriptor of the starter's end of the connection.
const starterFile = 3

// phase is how far a starter has come.
type phase int

const (
	phaseFolder  phase = iota // it enters the folder
	phaseProgram              // it looks for the program
	phaseReady                // it waits for the byte that tells it to execute the program
	phaseFailed               // it cannot start the program
)

// starterMain does what the starter does. It does not return.
func starterMain(parent *os.File) {
	unix.CloseOnExec(starterFile)
	var request startRequest
	if err := gob.NewDecoder(parent).Decode(&request); err != nil || len(request.Argv) == 0 {
		os.Exit(126) // it was not this program that called us by the name
	}
	spec := Spec{Argv: request.Argv, Dir: request.Dir, Env: request.Env}
	reports := gob.NewEncoder(parent)
	tell := func(p phase) {
		if err := reports.Encode(report{Phase: p}); err != nil {
			os.Exit(126) // the parent does not wait any more
		}
	}
	fail := func(err error) {
		se := new(StartError)
		errors.As(err, &se)
		_ = reports.Encode(failureOf(se)) // the exit code says it, too
		os.Exit(se.ExitCode())
	}
	tell(phaseFolder)
	err := enterable(spec.Dir)
	if err == nil && spec.Dir != "" {
		err = reason(os.Chdir(spec.Dir))
	}
	if err != nil {
		fail(&StartError{"chdir", spec.Dir, err})
	}
	tell(phaseProgram)
	path, err := spec.find()
	if err != nil {
		fail(err)
	}
	// The kernel will read the interpreter, too, so it is read here, where it may take long. If it
	// cannot be read, execute returns the error.
	if name := interpreterOf(path); name != "" {
		_, _ = firstLine(name)
	}
	tell(phaseReady)
	if n, _ := parent.Read(make([]byte, 1)); n != 1 {
		os.Exit(126)
	}
	fail(spec.explain(path, execute(path, spec.Argv, spec.Env)))
}

// startRequest is what a starter is to start.
type startRequest struct {
	Argv []string
	Dir  string
	Env  []string
}

// report is what a starter writes: the phase that begins or, with phaseFailed, the StartError. The
// kind of its cause comes with it, so that the parent's error is the same to errors.Is.
type report struct {
	Phase       phase
	Op, Path    string
	Errno       syscall.Errno
	Interpreter string // missingInterpreter
	Text        string // any other cause
}

// failureOf is the report of a StartError.
func failureOf(e *StartError) report {
	r := report{Phase: phaseFailed, Op: e.Op, Path: e.Path, Text: e.Err.Error()}
	var missing missingInterpreter
	switch {
	case errors.As(e.Err, &missing):
		r.Interpreter = string(missing)
	case errors.As(e.Err, &r.Errno):
	case errors.Is(e.Err, fs.ErrNotExist):
		r.Errno = syscall.ENOENT
	}
	return r
}

// failure is the StartError of a report.
func (r report) failure() error {
	err := errors.New(r.Text)
	switch {
	case r.Interpreter != "":
		err = missingInterpreter(r.Interpreter)
	case r.Errno != 0:
		err = r.Errno
	}
	return &StartError{r.Op, r.Path, err}
}
