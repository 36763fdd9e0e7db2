package proc

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"sync"
)

// Node returns a name of this machine that is the same in all its boots and that no other machine
// has, or the empty string. It is a hash of machine-id(5), because that must not be published.
var Node = sync.OnceValue(func() string { return nodeOf("/etc/machine-id") })

// nodeOf is Node of a file with a machine-id.
func nodeOf(file string) string {
	text, err := os.ReadFile(file)
	id := strings.TrimSpace(string(text))
	if _, bad := hex.DecodeString(id); err != nil || bad != nil || len(id) != 32 {
		return "" // the file does not exist, or it is not initialised yet
	}
	sum := sha256.Sum256([]byte("ouro-timer " + id))
	return hex.EncodeToString(sum[:8])
}
