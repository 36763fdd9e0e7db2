package civil

import (
	"bufio"
	"os"
	"strings"
)

// RulesVersion returns the version of the zone rules of the machine, such as 2026b. It is empty
// when the machine does not say, and the program uses its own rules.
func RulesVersion() string {
	f, err := os.Open("/usr/share/zoneinfo/tzdata.zi")
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReader(f).ReadString('\n')
	if version, ok := strings.CutPrefix(strings.TrimSpace(line), "# version "); ok {
		return version
	}
	return ""
}
