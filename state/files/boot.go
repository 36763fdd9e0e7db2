package files

import "sync"

// thisBoot names this boot of the machine; empty where the system has no such name. What a process has written without waiting for the
// disk is there for as long as it stays the same, however that process ended.
var thisBoot = sync.OnceValue(bootName)
