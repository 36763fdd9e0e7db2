package proc

import (
	"os"
	"strconv"
	"testing"
)

// TestIdentify asks who has some numbers: ourselves, one that is not our child, nobody.
func TestIdentify(t *testing.T) {
	if self := must(Self()); must(Identify(self.PID)) != self {
		t.Errorf("we are %+v, and taken for %+v", self, must(Identify(self.PID)))
	}
	parent, err := Identify(os.Getppid())
	if err != nil || parent.PID != os.Getppid() || !parent.Alive() || !parent.Here() {
		t.Errorf("our parent is %+v: %v", parent, err)
	}
	nobody := []int{0, -1, -os.Getpid(), 1 << 30}
	if strconv.IntSize == 64 {
		nobody = append(nobody, int(int64(1)<<32|int64(os.Getpid()))) // ours to a system that cuts it
	}
	for _, pid := range nobody {
		if id, err := Identify(pid); err == nil || id != (Identity{}) {
			t.Errorf("%d is %+v: %v", pid, id, err)
		}
	}
}
