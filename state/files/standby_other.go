//go:build !linux

package files

// Standby are the processes that wait for the runner lock. Only Linux tells.
func (s *Store) Standby() []int { return nil }
