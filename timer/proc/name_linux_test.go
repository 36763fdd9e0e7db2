package proc

import (
	"os"
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	before, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Skip(err)
	}
	defer Name(strings.TrimSpace(string(before)))
	Name("ouro-timer")
	if b, err := os.ReadFile("/proc/self/comm"); err != nil || string(b) != "ouro-timer\n" {
		t.Errorf("called %q, %v", b, err)
	}
}
