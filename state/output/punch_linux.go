package output

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// punch gives back the room of the middle of a file.
func punch(path string, from, length int64) error {
	f, err := plainfile.OpenIn(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, length)
}
