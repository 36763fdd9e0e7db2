//go:build unix && !linux

package proc

// rssFloor is 0, because the system does not count our memory as a child's.
func rssFloor() int64 { return 0 }
