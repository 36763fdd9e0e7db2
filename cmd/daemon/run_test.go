package daemon

import (
	"testing"
)

func TestRereadWords(t *testing.T) {
	for _, c := range []struct {
		changed []string
		bounded bool
		want    string
	}{
		{nil, true, "config.toml was read again: nothing in it has changed"},
		{[]string{"notify.on", "channels.ops"}, true, "config.toml was read again; changed: notify.on, channels.ops"},
		{[]string{"run.max_parallel"}, false, "config.toml was read again; changed: run.max_parallel"},
		{[]string{"run.max_parallel"}, true, "config.toml was read again; changed: run.max_parallel; --max-parallel beats run.max_parallel"},
		{[]string{"tz"}, false, "config.toml was read again; changed: tz; this runner shows times in the zone that it began with"},
	} {
		if got := rereadWords(c.changed, c.bounded); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
