package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Absolute returns the absolute path of a file that the user named.
func Absolute(s *Call, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	if dir, err := s.Getwd(); err == nil {
		return filepath.Join(dir, name)
	}
	return name
}

// HasInput reports whether standard input is there for what the call names by "-". It is not for a
// call that came as an object.
func HasInput(s *Call) bool { return s.Surface == nil }

// Input is what a file that the user named has, or standard input for "-". A read of it ends with
// ctx, because nobody may ever write to a pipe; the goroutine that reads the pipe then blocks until
// the process ends.
func Input(ctx context.Context, s *Call, name string) io.ReadCloser {
	from, to := io.Pipe()
	stop := context.AfterFunc(ctx, func() { to.CloseWithError(ctx.Err()) })
	go func() {
		defer stop()
		in, err := s.In, error(nil)
		switch name {
		case "": // which is no path of the folder of the call
			err = errors.New("its name is empty")
		case "-":
		default:
			var f *os.File
			if f, err = os.Open(Absolute(s, name)); err == nil {
				defer f.Close()
				in = f
			}
		}
		if err == nil {
			_, err = io.Copy(to, in)
		}
		to.CloseWithError(err)
	}()
	return from
}

// ReadInput reads an Input. It stops after most+1 bytes, so that the caller sees whether there are
// more than most.
func ReadInput(ctx context.Context, s *Call, name string, most int64) ([]byte, error) {
	in := Input(ctx, s, name)
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, most+1))
}
