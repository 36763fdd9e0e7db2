package natstest

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// diskSize is what the disk of a server that can be filled has.
const diskSize = "size=192m"

// mount gives each server a disk of its own, as far as this process may.
func (s *Servers) mount(dir string) {
	for i := range s.procs {
		at := filepath.Join(dir, fmt.Sprint(i+1))
		if os.MkdirAll(at, 0o700) != nil || syscall.Mount("tmpfs", at, "tmpfs", 0, diskSize) != nil {
			return
		}
		s.small = append(s.small, at)
	}
}

func (s *Servers) unmount() {
	for _, at := range s.small {
		_ = syscall.Unmount(at, syscall.MNT_DETACH)
	}
}
