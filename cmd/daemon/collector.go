package daemon

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// lullMost is how much memory is in use before some is given back in a lull: looking through a
	// large queue, or through many changes, takes more than keeping what was found. Some is given
	// back again when there is lullMore more of it, or lullEvery has passed.
	lullMost  = 20 << 20
	lullMore  = 4 << 20
	lullEvery = time.Minute
)

// lull gives memory back to the system that is not needed any more, if there may be much of it.
func lull() func() {
	var mu sync.Mutex
	var last time.Time
	var left int64
	return func() {
		mu.Lock()
		defer mu.Unlock()
		if now := held(); now < lullMost || now < left+lullMore && time.Since(last) < lullEvery {
			return
		}
		debug.FreeOSMemory()
		last, left = time.Now(), held()
	}
}

// held is how much memory the program has from the system.
func held() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// idleGarbage is how much garbage may lie while the runner dozes.
const idleGarbage = 16 << 20

// pauseCollector stops the collector of garbage, which would look for some every two minutes
// although none is made while nothing happens. What memory is to spare goes back to the system
// first; should garbage be made all the same, idleGarbage of it is let lie.
func pauseCollector() (wake func()) {
	debug.FreeOSMemory()
	limit := debug.SetMemoryLimit(held() + idleGarbage)
	percent := debug.SetGCPercent(-1)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
