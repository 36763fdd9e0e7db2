package when

import (
	"bufio"
	"os"
	"strings"
)

// RulesVersion is the version of the machine's rules of zones, such as 2026b; empty when the machine does not say, and the program goes by its own.
func RulesVersion() string {
	f, err := os.Open("/usr/share/zoneinfo/tzdata.zi")
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReader(f).ReadString('\n')
	version, ok := strings.CutPrefix(strings.TrimSpace(line), "# version ")
	if !ok {
		return ""
	}
	return version
}
