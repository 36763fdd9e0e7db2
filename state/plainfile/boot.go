package plainfile

import "sync"

// Boot names this boot of the machine; empty where the system has no such name. What a process has
// written without waiting for the disk is there for as long as it stays the same, however that
// process ended.
var Boot = sync.OnceValue(bootName)
