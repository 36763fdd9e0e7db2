package guard

import (
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// listed reports whether a folder has an access control list.
func listed(path string) bool {
	n, err := unix.Getxattr(path, "system.posix_acl_access", nil)
	return err == nil && n > 0
}

// unmapped reports whether a user is one that our user namespace has no number for. In a sandbox
// that knows nobody but us, root's folders look so; from in there nobody can become who owns them.
func unmapped(uid int) bool {
	overflow, ok := overflowUser()
	return ok && uid == overflow
}

// overflowUser is the user to whom files seem to belong whose owner has no number in our user
// namespace. It is not ok in a namespace in which all users have one.
var overflowUser = sync.OnceValues(func() (int, bool) {
	table, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return 0, false
	}
	if f := strings.Fields(string(table)); len(f) == 3 && f[0] == "0" && f[1] == "0" && f[2] == "4294967295" {
		return 0, false
	}
	text, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	return n, err == nil
})
