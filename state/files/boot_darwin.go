package files

import "golang.org/x/sys/unix"

func bootName() string {
	name, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return "" // then claims wait for the disk one by one
	}
	return name
}
