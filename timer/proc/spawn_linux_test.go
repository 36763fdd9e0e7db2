package proc

import (
	"errors"
	"testing"
)

// withoutSpawner arranges for children to be started as on a system where no thread can have a umask of its own.
func withoutSpawner(t *testing.T) {
	saved := spawner
	t.Cleanup(func() { spawner = saved })
	spawner = func() chan<- spawnRequest { return nil }
}

func threadsHaveUmask() bool { return spawner() != nil }

func TestNoSpawnerWhereUnshareIsRefused(t *testing.T) {
	saved := unshare
	t.Cleanup(func() { unshare = saved })
	refused := errors.New("refused")
	unshare = func() error { return refused }
	ready := make(chan error)
	go startSpawner(make(chan spawnRequest), ready)
	if err := <-ready; err != refused {
		t.Errorf("got %v, want %v", err, refused)
	}
}
