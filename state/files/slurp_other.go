//go:build !unix

package files

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// readOwn is readFile: who may write a file is not told by modes here.
func readOwn(path string, limit int64) ([]byte, error) { return readFile(path, limit) }

// readFile reads a file of ours: a plain file, and not larger than limit, else an error. Links are not followed.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe would block
		return nil, errOdd
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("%w: it is larger than %d bytes", errDecode, limit)
	}
	data := make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if int64(len(data)) > limit {
			return nil, fmt.Errorf("%w: it is larger than %d bytes", errDecode, limit)
		}
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}
