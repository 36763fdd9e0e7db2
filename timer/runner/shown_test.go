package runner

import "testing"

// TestShown keeps what may be secret of a URL out of the log, and names the channel as everything else does.
func TestShown(t *testing.T) {
	t.Parallel()
	for channel, want := range map[string]string{
		"ops": "ops", "email:bob@example.org": "email:bob@example.org",
		"http://localhost:18475/hooks/secret": "http://localhost:18475/…", "slack://token@channel": "slack://…",
	} {
		if got := shown(channel); got != want {
			t.Errorf("%s is shown as %s, want %s", channel, got, want)
		}
	}
}
