package files

import (
	"encoding/binary"
	"os"
	"strings"
	"syscall"
	"unsafe"
)

// entries reads the names in an open folder. It is what Readdirnames does, with one piece of memory for thousands of names and
// not one for each: very many are listed in two thirds of the time.
func entries(d *os.File) (files []string, err error) {
	const (
		lengthAt = int(unsafe.Offsetof(syscall.Dirent{}.Reclen))
		nameAt   = int(unsafe.Offsetof(syscall.Dirent{}.Name))
	)
	buf := make([]byte, 64<<10)
	for {
		n, err := syscall.ReadDirent(int(d.Fd()), buf)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, os.NewSyscallError("readdirent", err)
		}
		if n <= 0 {
			return files, nil
		}
		for some := string(buf[:n]); len(some) > nameAt; {
			length := int(binary.NativeEndian.Uint16([]byte(some[lengthAt : lengthAt+2])))
			name := some[nameAt:length]
			if end := strings.IndexByte(name, 0); end >= 0 {
				name = name[:end]
			}
			if name != "." && name != ".." {
				files = append(files, name)
			}
			some = some[length:]
		}
	}
}
