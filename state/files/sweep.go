package files

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tempPrefix begins the names of files that are still being written.
const tempPrefix = ".new-"

// fresh returns a name for a new file in dir that every reader ignores. A runner that begins
// removes all files with such names (sweep). It holds the state lock, as most that make such files
// do. The others (note, Scratch) may find theirs removed.
func fresh(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("%s%016x", tempPrefix, rand.Uint64()))
}

// sweptDirs are the folders in which a runner looks for what dead writers left.
var sweptDirs = []string{queueDir, pausedDir, keysDir, originsDir, runsDir, openDir, tallyDir, inboxDir, outboxDir}

// sweep removes the temporary files and notes that dead writers left.
func (s *Store) sweep(ctx context.Context) error {
	return s.transact(ctx, func(t *tx) error {
		for _, dir := range sweptDirs {
			places, err := s.remains(dir)
			if err != nil {
				return err
			}
			for _, place := range places {
				t.disk.remove(s.path(place))
			}
		}
		return t.sweepWaits()
	})
}

// remains returns the places of temporary files in a folder, which writers use or have left, and of
// notes without a record.
func (s *Store) remains(dir string) (places []string, err error) {
	files, err := readNames(s.path(dir))
	slices.Sort(files)
	for _, f := range files {
		record, note := strings.CutSuffix(f, ".halt")
		if !note {
			record, note = strings.CutSuffix(f, ".pid") // of an older version
		}
		if note = note && dir == openDir; note {
			_, err := os.Lstat(s.path(dir + "/" + record + suffix))
			note = missing(err)
		}
		if note || strings.HasPrefix(f, tempPrefix) {
			places = append(places, dir+"/"+f)
		}
	}
	return places, err
}
