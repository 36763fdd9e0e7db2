package cmd

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// itself is the word that calls this program again, from any folder: its path if it was called by one, its bare name if that finds
// this very program, else where the program is.
func itself(s *session) string {
	const name = "ouro-timer"
	if strings.ContainsRune(s.called, '/') || strings.ContainsRune(s.called, filepath.Separator) {
		if filepath.IsAbs(s.called) {
			return s.called
		}
		if dir, err := s.Getwd(); err == nil {
			return filepath.Join(dir, s.called)
		}
	}
	program, err := os.Executable()
	if err != nil {
		return name
	}
	if own, err := os.Stat(program); err == nil && s.called != "" {
		if found, err := proc.LookPath(s.called, s.Getenv("PATH"), ""); err == nil {
			if other, err := os.Stat(found); err == nil && os.SameFile(own, other) {
				return s.called
			}
		}
	}
	return program
}
