package plainfile

import "sync"

// Boot returns the name of this boot of the machine, or the empty string if the system has no such
// name. While it stays the same, what a process has written can be read, even if the process died
// and never waited for the disk.
var Boot = sync.OnceValue(bootName)
