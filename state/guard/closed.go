package guard

import (
	"os"
	"path/filepath"
	"slices"
)

// Closed returns the first folder on the way to a folder, or that one, that another user may not
// enter, by its owner, group and mode, and whose right of it that is: u, g or o, as for chmod(1).
// It is empty if there is none. What is not there closes nothing, and root may enter everything. A
// folder with an access control list counts as open: that may say more than the mode.
func Closed(path string, uid int, groups []int) (folder, class string) {
	if uid == 0 {
		return "", ""
	}
	ways := [][]string{above(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		ways = append(ways, above(real))
	}
	for _, way := range ways {
		for _, at := range way {
			info, err := os.Stat(at)
			if err != nil {
				break
			}
			owner, known := Owner(info)
			group, also := group(info)
			if !known || !also || listed(at) {
				continue
			}
			class, right := "o", os.FileMode(0o001)
			switch {
			case owner == uid:
				class, right = "u", 0o100
			case slices.Contains(groups, group):
				class, right = "g", 0o010
			}
			if info.Mode()&right == 0 {
				return at, class
			}
		}
	}
	return "", ""
}

// above are the folders from the root to a path, that one included.
func above(path string) (list []string) {
	for {
		list = append(list, path)
		up := filepath.Dir(path)
		if up == path {
			slices.Reverse(list)
			return list
		}
		path = up
	}
}
