package cmd

import (
	"runtime"
	"runtime/debug"
)

// dozeRoom is how much garbage may lie while the runner dozes.
const dozeRoom = 16 << 20

// doze stops the collector of garbage, which would look for some every two minutes although none is made while nothing happens. What
// memory is to spare goes back to the system first; should garbage be made all the same, dozeRoom of it is let lie.
func doze() (wake func()) {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	limit := debug.SetMemoryLimit(int64(m.Sys-m.HeapReleased) + dozeRoom)
	percent := debug.SetGCPercent(-1)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
