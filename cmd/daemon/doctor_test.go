package daemon

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/doctor"
)

// TestDoctorPage: the page has a row for each check.
func TestDoctorPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	st, err := cli.OpenToExamine(t.TempDir(), func(state.Problem) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range (&doctor.Doctor{Store: st}).Inspections() {
		if !strings.Contains(string(page), "\n| `"+i.Name+"` | ") {
			t.Errorf("docs/doctor.md has nothing of the check %s", i.Name)
		}
	}
}

// TestSettingForm: a long key moves no column.
func TestSettingForm(t *testing.T) {
	form := settingForm([]setting{{Key: "home"}, {Key: "run.heartbeat_every"}})
	for _, key := range []string{"home", "run.heartbeat_every"} {
		if line := fmt.Sprintf(form, key, "1m", "default"); strings.Index(line, "1m") != len("run.heartbeat_every ") {
			t.Errorf("%q", line)
		}
	}
}
