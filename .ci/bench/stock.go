package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// stock makes a state folder with n pending tasks. The program adds one, and the others are copies
// of its file with other IDs and due instants, which are a minute apart from tomorrow on.
func stock(ouro, home string, n int) error {
	os.Setenv("OURO_HOME", home)
	if _, err := once([]string{ouro, "at", "1h", "-q", "--no-autostart", "--", "true"}, nil); err != nil {
		return err
	}
	queue := filepath.Join(home, "timers")
	found, err := filepath.Glob(filepath.Join(queue, "*.toml"))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("%d tasks after the first at, %v", len(found), err)
	}
	like, err := os.ReadFile(found[0])
	if err != nil {
		return err
	}
	id := strings.Split(filepath.Base(found[0]), ".")[2]
	first := time.Now().UTC().Truncate(time.Second).Add(24 * time.Hour)
	for i := 1; i < n; i++ {
		other := state.ID(uint64(i))
		due := first.Add(time.Duration(i) * time.Minute).Format("20060102T150405.000000000Z")
		data := bytes.Replace(like, []byte(`"`+id+`"`), []byte(`"`+other+`"`), 1)
		if err := os.WriteFile(filepath.Join(queue, due+"."+other+".toml"), data, 0o600); err != nil {
			return err
		}
	}
	// The program finds out from the names how many IDs were given out, if nothing else says it.
	for _, file := range []string{"commits", "ledger.jsonl"} {
		if err := os.Remove(filepath.Join(home, "runs", file)); err != nil {
			return err
		}
	}
	return nil
}
