package proc

import "os"

// Name makes ps and pgrep show this process by a name, of which the kernel keeps 15 bytes. Without
// it, a program that was started through /proc/self/exe would be called exe.
func Name(name string) {
	// An error does not matter: the process works without the name.
	_ = os.WriteFile("/proc/self/comm", []byte(name), 0o600)
}
