package runner

import (
	"context"
	"time"
)

// tidyAfter is how long nothing must happen before the store does what it has put off. It also does
// so when the runner ends.
const tidyAfter = time.Second

// tidy makes the store do what it has put off.
func (l *loop) tidy(ctx context.Context) {
	if err := l.Store.Sync(ctx); err != nil && ctx.Err() == nil {
		l.warn("the disk did not take what was put off: %v", err)
	}
	l.lull()
}

func (o Options) lull() {
	if o.Lull != nil {
		o.Lull()
	}
}

// idleAfter is how long nothing must happen before the program idles.
const idleAfter = time.Minute

// idle makes the program idle after a while, unless the returned function is called before.
func (l *loop) idle(ctx context.Context) (wake func()) {
	ctx, stop := context.WithCancel(ctx)
	dozing := make(chan func(), 1)
	go func() {
		wake := func() {}
		if l.Clock.For(ctx, idleAfter) == nil {
			wake = l.Idle()
		}
		dozing <- wake
	}()
	return func() {
		stop()
		(<-dozing)()
	}
}
