package proc

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"sync"
)

// Node is a name of this machine that is the same in all its boots and that no other machine has,
// or empty. It is computed from machine-id(5), which must not be published itself.
var Node = sync.OnceValue(func() string { return nodeOf("/etc/machine-id") })

func nodeOf(file string) string {
	text, err := os.ReadFile(file)
	id := strings.TrimSpace(string(text))
	if _, bad := hex.DecodeString(id); err != nil || bad != nil || len(id) != 32 {
		return "" // there is none, or it is not initialised yet
	}
	sum := sha256.Sum256([]byte("ouro-timer " + id))
	return hex.EncodeToString(sum[:8])
}
