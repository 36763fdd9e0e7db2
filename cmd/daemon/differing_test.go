package daemon

import (
	"slices"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

func TestDiffering(t *testing.T) {
	with := func(change func(*state.Config)) (c state.Config) {
		change(&c)
		return c
	}
	ops := func(url string) state.Config {
		return with(func(c *state.Config) {
			c.Channels = map[string]state.Channel{"me": {Type: "desktop"}, "ops": {URL: url}}
		})
	}
	five := 5
	for _, c := range []struct {
		name string
		a, b state.Config
		want []string
	}{
		{"nothing", state.Config{}, state.Config{}, nil},
		{"what is equal", ops("a:"), ops("a:"), nil},
		{"a zone", state.Config{}, with(func(c *state.Config) { c.TZ = "Asia/Tokyo" }), []string{"tz"}},
		{"in tables, in the order of the page", with(func(c *state.Config) { c.Notify.On, c.Notify.GiveUp, c.Run.MaxParallel = "never", "7d", 1 }), state.Config{}, []string{"run.max_parallel", "notify.on", "notify.give_up"}},
		{"none allowed is not all allowed", state.Config{}, with(func(c *state.Config) { c.Run.Allow = []string{} }), []string{"run.allow"}},
		{"a number that was not given", state.Config{}, with(func(c *state.Config) { c.Lineage.Pending = &five }), []string{"lineage.pending"}},
		{"a channel", ops("a:"), ops("b:"), []string{"channels.ops"}},
		{"channels that come, and go", state.Config{}, ops("a:"), []string{"channels.me", "channels.ops"}},
	} {
		if got := differing(c.a, c.b); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := differing(c.b, c.a); !slices.Equal(got, c.want) {
			t.Errorf("%s, the other way round: %q, want %q", c.name, got, c.want)
		}
	}
}
