package guard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Volume is what the system says about the file system that a folder is on.
type Volume struct {
	Kind string // what the system calls it; empty where it does not say
	// other machines may have it, too: a lock taken here may not be known there, and the power may
	// go here alone
	Network bool
	Free    int64 // bytes left for this user; -1 where it is not known
	Inodes  int64 // files left; -1 where it is not known or not limited
}

// VolumeOf looks at the file system that a folder is on or, where it is not there yet, will be on.
// Where it is there that costs one system call.
func VolumeOf(dir string) (Volume, error) { return nearest(dir, statVolume) }

// nearest asks about the folder, or the first one above it that is there.
func nearest(dir string, ask func(string) (Volume, error)) (Volume, error) {
	for {
		v, err := ask(dir)
		parent := filepath.Dir(dir)
		if !errors.Is(err, os.ErrNotExist) || parent == dir {
			return v, err
		}
		dir = parent
	}
}

// Warning says why a folder on a file system of the network is no good place for the state.
func (v Volume) Warning(dir string) string {
	return fmt.Sprintf("%s is on a network file system (%s): where its locks are not kept between machines, a task may run twice or be lost", dir, v.Kind)
}

// networkKinds are the file systems that other machines take part in, by the names of mount(8).
var networkKinds = []string{
	"nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "9p", "afs", "openafs",
	"ceph", "lustre", "coda", "ncp", "afpfs", "webdav", "vboxsf", "gpfs", "beegfs",
	"fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.gcsfuse", "fuse.glusterfs", "fuse.curlftpfs",
	"fuse.ceph", "fuse.davfs", "fuse.smbnetfs", "macfuse", "osxfuse",
}

// counted is a count that the system gave as unsigned.
func counted(n uint64) int64 { return int64(min(n, 1<<62)) }
