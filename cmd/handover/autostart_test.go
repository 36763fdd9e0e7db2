package handover

import (
	"testing"
)

func TestNewerVersion(t *testing.T) {
	order := []string{"0.1.0-dev", "0.1.0-rc.1", "0.1.0-rc.2", "0.1.0-rc.10", "v0.1.0", "0.1.1", "0.2.0+build.7", "0.10.0", "1.0.0"}
	for i, a := range order {
		for j, b := range order {
			if got := newerVersion(a, b); got != (i > j) {
				t.Errorf("newerVersion(%q, %q) = %v", a, b, got)
			}
		}
	}
	for _, odd := range []string{"", "dev", "1.2", "1.2.x", "1.2.3.4", "-1.0.0"} {
		if newerVersion(odd, "0.0.1") || newerVersion("9.0.0", odd) {
			t.Errorf("%q is compared, and is not a version", odd)
		}
	}
}
