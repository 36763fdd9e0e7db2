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

// ReadInput reads a file that the user named, or standard input for "-". It stops after most+1
// bytes, so that the caller sees whether there are more than most. It returns when ctx ends,
// because nobody may ever write to a pipe; the read then blocks until the process ends.
func ReadInput(ctx context.Context, s *Call, name string, most int64) ([]byte, error) {
	if name == "" { // which is no path of the folder of the call
		return nil, errors.New("its name is empty")
	}
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		in := s.In
		if name != "-" {
			f, err := os.Open(Absolute(s, name))
			if err != nil {
				done <- result{nil, err}
				return
			}
			defer f.Close()
			in = f
		}
		data, err := io.ReadAll(io.LimitReader(in, most+1))
		done <- result{data, err}
	}()
	select {
	case r := <-done:
		return r.data, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
