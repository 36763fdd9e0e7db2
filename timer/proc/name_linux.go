package proc

import "os"

// Name makes ps and pgrep show this process by that name, of which the kernel keeps 15 bytes. A
// program that was started through /proc/self/exe would otherwise be called exe.
func Name(name string) {
	// A missing name is an inconvenience, not a fault.
	_ = os.WriteFile("/proc/self/comm", []byte(name), 0o600)
}
