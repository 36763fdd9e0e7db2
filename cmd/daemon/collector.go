package daemon

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// lullMost is how much memory may be in use before some is given back in a lull. Reading a
	// large queue takes more than keeping what was found. More is given back when lullMore was
	// added, or lullEvery has passed.
	lullMost  = 20 << 20
	lullMore  = 4 << 20
	lullEvery = time.Minute
)

// lull returns a function that gives unused memory back to the system if there may be much of it.
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

// idleGarbage is how much garbage may be left while the runner sleeps for long.
const idleGarbage = 16 << 20

// pauseCollector stops the garbage collector, which would run every two minutes although no garbage
// is made while nothing happens. It first gives unused memory back to the system. When garbage is
// made all the same, the collector runs after idleGarbage of it.
func pauseCollector() (wake func()) {
	debug.FreeOSMemory()
	limit := debug.SetMemoryLimit(held() + idleGarbage)
	percent := debug.SetGCPercent(-1)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
