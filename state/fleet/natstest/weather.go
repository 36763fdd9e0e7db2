package natstest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// Weather does one thing after the other to servers with links, and undoes it, until ctx ends. It returns how often it did what. Not all of them are well
// when it returns; see Calm.
func (s *Servers) Weather(ctx context.Context, luck *rand.Rand) (done map[string]int, err error) {
	done = map[string]int{}
	all := []struct {
		name string
		do   func(ctx context.Context, i int, luck *rand.Rand) error
	}{
		{"killed", s.killed},
		{"all killed", s.allKilled},
		{"stopped for a while", s.stopped},
		{"cut off", s.cutOff},
		{"deaf", s.deaf},
		{"slow", s.slow},
		{"restarted one by one", s.rolled},
		{"disk full", s.filled},
	}
	for next := luck.Perm(len(all)); ; next = next[1:] { // each once before any comes again
		if len(next) == 0 {
			next = luck.Perm(len(all))
		}
		if nap(ctx, time.Duration(300+luck.IntN(2500))*time.Millisecond); ctx.Err() != nil {
			return done, nil
		}
		fault := all[next[0]]
		if fault.name == "disk full" && len(s.small) == 0 {
			continue
		}
		if err := fault.do(ctx, luck.IntN(len(s.procs)), luck); err != nil {
			return done, fmt.Errorf("%s: %w", fault.name, err)
		}
		done[fault.name]++
	}
}

func nap(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// some is a time that something lasts.
func some(luck *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(luck.Int64N(int64(most)))
}

func (s *Servers) killed(ctx context.Context, i int, luck *rand.Rand) error {
	s.Kill(i)
	nap(ctx, some(luck, 2*time.Second))
	return s.Up(i)
}

func (s *Servers) allKilled(ctx context.Context, _ int, luck *rand.Rand) (err error) {
	for i := range s.procs {
		s.Kill(i)
	}
	nap(ctx, some(luck, 2*time.Second))
	for i := range s.procs {
		if err == nil {
			err = s.Up(i)
		}
	}
	return err
}

func (s *Servers) stopped(ctx context.Context, i int, luck *rand.Rand) error {
	s.Signal(i, halt)
	nap(ctx, some(luck, 6*time.Second))
	s.Signal(i, goOn)
	if halt == goOn {
		return s.killed(ctx, i, luck)
	}
	return nil
}

func (s *Servers) cutOff(ctx context.Context, i int, luck *rand.Rand) error {
	for _, k := range s.Links(i) {
		k.Cut()
	}
	nap(ctx, some(luck, 8*time.Second))
	return s.mend(i)
}

// deaf has some links of a server lose all, and perhaps one direction alone: of some that it made, and not of all that were made to it.
func (s *Servers) deaf(ctx context.Context, i int, luck *rand.Rand) error {
	for n, k := range s.Links(i) {
		if n == 0 || luck.IntN(4) > 0 {
			k.Deafen()
		}
	}
	nap(ctx, some(luck, 8*time.Second))
	return s.mend(i)
}

func (s *Servers) slow(ctx context.Context, i int, luck *rand.Rand) error {
	for _, k := range s.Links(i) {
		k.Slow(some(luck, 150*time.Millisecond))
	}
	nap(ctx, some(luck, 6*time.Second))
	return s.mend(i)
}

func (s *Servers) mend(i int) error {
	for _, k := range s.Links(i) {
		k.Mend()
	}
	return nil
}

// rolled ends one server after the other as those do who install a new version.
func (s *Servers) rolled(ctx context.Context, _ int, luck *rand.Rand) error {
	for i := range s.procs {
		s.Signal(i, quit)
		for end := time.Now().Add(10 * time.Second); s.listens(i) && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
		s.Kill(i)
		if err := s.Up(i); err != nil {
			return err
		}
		nap(ctx, time.Second+some(luck, 2*time.Second))
	}
	return nil
}

// filled fills the disk of a server, and makes room again. It has stopped keeping anything, so it is started anew.
func (s *Servers) filled(ctx context.Context, i int, luck *rand.Rand) error {
	path := filepath.Join(s.small[i], "fill")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for piece := make([]byte, 64<<10); len(piece) > 0; {
		if _, err := f.Write(piece); err != nil {
			piece = piece[:len(piece)/2]
		}
	}
	nap(ctx, some(luck, 6*time.Second))
	// A process that is being started holds the file open until it is executed. So its removal alone
	// may make no room yet.
	err = f.Truncate(0)
	if err = errors.Join(err, f.Close(), os.Remove(path)); err != nil {
		return err
	}
	return s.killed(ctx, i, luck)
}

// Calm makes all well.
func (s *Servers) Calm() (err error) {
	for i := range s.procs {
		_ = s.mend(i)
		if s.procs[i] == nil && err == nil {
			err = s.Up(i)
		}
	}
	return err
}
