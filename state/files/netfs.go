package files

import "path/filepath"

// Volume is what the system says about the file system that a folder is on.
type Volume struct {
	Kind    string // what the system calls it; empty where it does not say
	Network bool   // other machines may have it, too: a lock taken here may not be known there, and the power may go here alone
	Free    int64  // bytes left for this user; -1 where it is not known
	Inodes  int64  // files left; -1 where it is not known or not limited
}

// Volume looks at the file system the state is on or, before the first task, will be on. Where the folder is there it
// costs one system call.
func (s *Store) Volume() (Volume, error) {
	dir := s.dir
	for {
		v, err := s.volume(dir)
		parent := filepath.Dir(dir)
		if !missing(err) || parent == dir {
			return v, fail("looking at the file system", err)
		}
		dir = parent
	}
}

// kinds of file systems that other machines take part in, by the names that mount(8) has for them.
var networkKinds = map[string]bool{
	"nfs": true, "nfs4": true, "cifs": true, "smb": true, "smb2": true, "smb3": true, "smbfs": true, "9p": true, "afs": true, "openafs": true,
	"ceph": true, "lustre": true, "coda": true, "ncp": true, "afpfs": true, "webdav": true, "vboxsf": true, "gpfs": true, "beegfs": true,
	"fuse.sshfs": true, "fuse.rclone": true, "fuse.s3fs": true, "fuse.gcsfuse": true, "fuse.glusterfs": true, "fuse.curlftpfs": true,
	"fuse.ceph": true, "fuse.davfs": true, "fuse.smbnetfs": true, "macfuse": true, "osxfuse": true,
}

// rest is a count the system gave as unsigned.
func rest(n uint64) int64 {
	if n > 1<<62 {
		return 1 << 62
	}
	return int64(n)
}
