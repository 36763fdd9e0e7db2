//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/term"
)

// OwnTerminal names the terminal device that this call was made on, by standard error, output or input, or is empty.
func OwnTerminal(w World) string {
	for _, stream := range []any{w.Err, w.Out, w.In} {
		f, ok := stream.(*os.File)
		if !ok || !term.IsTerminal(int(f.Fd())) {
			continue
		}
		var is syscall.Stat_t
		if syscall.Fstat(int(f.Fd()), &is) != nil {
			continue
		}
		if name := deviceOf(is.Rdev, "/dev/pts", "/dev"); name != "" {
			return name
		}
	}
	return ""
}

// deviceOf finds the character device of that number in the folders, as ttyname(3) does.
func deviceOf[N ~uint64 | ~uint32 | ~int32](rdev N, folders ...string) string {
	for _, folder := range folders {
		names, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, name := range names {
			if name.Type()&os.ModeCharDevice == 0 {
				continue
			}
			path := filepath.Join(folder, name.Name())
			var is syscall.Stat_t
			if syscall.Stat(path, &is) == nil && N(is.Rdev) == rdev && path != "/dev/tty" {
				return path
			}
		}
	}
	return ""
}
