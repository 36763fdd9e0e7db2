package proc

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// This file is what a starter does, and what it and its parent write to each other.
// starter_linux.go is the parent.
//
// The parent writes a request, the starter a byte for each phase. After phaseReady it waits for a
// byte that tells it to execute the program, which closes the connection. A failure is phaseFailed
// and a text, instead of any phase.

// starterFile is the descriptor of the starter's end of the connection.
const starterFile = 3

// The phases of a starter.
const (
	phaseFolder  = 'f' // it enters the folder
	phaseProgram = 'p' // it looks for the program
	phaseReady   = 'r' // it waits for the byte that tells it to execute the program
	phaseFailed  = 'e' // it cannot start the program; errorText follows
)

// starterMain does what the starter does. It does not return.
func starterMain(parent *os.File) {
	unix.CloseOnExec(starterFile)
	spec, err := readRequest(parent)
	if err != nil {
		os.Exit(126) // it was not this program that called us by the name
	}
	tell := func(phase byte) {
		if _, err := parent.Write([]byte{phase}); err != nil {
			os.Exit(126) // the parent does not wait any more
		}
	}
	fail := func(err error) {
		se := new(StartError)
		errors.As(err, &se)
		_, _ = parent.Write(errorText(se)) // the exit code says it, too
		os.Exit(se.ExitCode())
	}
	tell(phaseFolder)
	err = enterable(spec.Dir)
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

// maxRequest bounds a request, in bytes. No kernel takes as much for a program.
const maxRequest = 64 << 20

// requestText is the request to start spec: the length of what follows in four bytes, then the
// folder, the number of words, the words and the environment, each with a NUL at its end. It
// returns an error if one of them contains a NUL.
func requestText(spec Spec) ([]byte, error) {
	words := append([]string{spec.Dir, strconv.Itoa(len(spec.Argv))}, spec.Argv...)
	words = append(words, spec.Env...)
	text := []byte{0, 0, 0, 0}
	for _, w := range words {
		if strings.IndexByte(w, 0) >= 0 {
			return nil, syscall.EINVAL
		}
		text = append(append(text, w...), 0)
	}
	binary.BigEndian.PutUint32(text, uint32(len(text)-4))
	return text, nil
}

// readRequest reads a requestText.
func readRequest(from io.Reader) (spec Spec, err error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(from, head); err != nil {
		return spec, err
	}
	size := binary.BigEndian.Uint32(head)
	if size > maxRequest {
		return spec, io.ErrUnexpectedEOF
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(from, text); err != nil {
		return spec, err
	}
	words := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	if len(words) < 3 {
		return spec, io.ErrUnexpectedEOF
	}
	n, err := strconv.Atoi(words[1])
	if err != nil || n < 1 || n > len(words)-2 {
		return spec, io.ErrUnexpectedEOF
	}
	spec.Dir, spec.Argv, spec.Env = words[0], words[2:2+n], words[2+n:]
	return spec, nil
}

// errorText is phaseFailed and a StartError: its fields, with a NUL between them. The kind of its
// cause is a field, so that the parent's error is the same to errors.Is.
func errorText(e *StartError) []byte {
	kind, text := "text", e.Err.Error()
	var number syscall.Errno
	var missing missingInterpreter
	switch {
	case errors.As(e.Err, &missing):
		kind, text = "interpreter", string(missing)
	case errors.As(e.Err, &number):
		kind, text = "errno", strconv.Itoa(int(number))
	case errors.Is(e.Err, fs.ErrNotExist):
		kind = "none"
	}
	return append([]byte{phaseFailed}, strings.Join([]string{e.Op, e.Path, kind, text}, "\x00")...)
}

// readError returns the StartError of an errorText without phaseFailed.
func readError(text string) error {
	f := strings.SplitN(text, "\x00", 4)
	if len(f) < 4 {
		return errStarterDied
	}
	err := errors.New(f[3])
	switch f[2] {
	case "interpreter":
		err = missingInterpreter(f[3])
	case "none":
		err = fs.ErrNotExist
	case "errno":
		if n, e := strconv.Atoi(f[3]); e == nil {
			err = syscall.Errno(n)
		}
	}
	return &StartError{f[0], f[1], err}
}
