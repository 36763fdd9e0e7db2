package files

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// sumKey begins a line's checksum.
const sumKey = `,"sum":"`

// TestLinesAreWrittenAlike: a line that is read and written again is the same to the byte.
func TestLinesAreWrittenAlike(t *testing.T) {
	s := busy(t, scratch(t), nil)
	data := must[[]byte](t)(os.ReadFile(s.path(ledgerFile)))
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	if len(lines) < 8 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines {
		var e ledger.Entry
		if err := json.Unmarshal(line, &e); err != nil || !bytes.Contains(line, []byte(sumKey)) {
			t.Fatalf("%v %s", err, line)
		}
		again := must[[]byte](t)(e.Text())
		if string(again) != string(line)+"\n" {
			t.Errorf("read and written again it is\n%s\nand was\n%s", again, line)
		}
	}
}

// TestTextThatLooksLikeASeal: what users write comes into lines of the ledger, and is none of a line's own checksum.
func TestTextThatLooksLikeASeal(t *testing.T) {
	s := lazy(t, scratch(t), nil)
	for _, text := range []string{sumKey, sumKey + `00000000"}}`, `"}}`, `x","sum":"12345678"}}` + "\n", `\",\"sum\":\"12345678`} {
		must[state.Entry](t)(s.Add(ctx, once(text), day0))
	}
	_, problems, err := s.Log(ctx, "", func(state.Line) bool { return true })
	if err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}

// TestAlteredLineIsTold: a line in which a byte was altered, so that it says something else and reads as well as before, is told by the log, of all
// tasks and of its own, by who follows the ledger, and by the examination.
func TestAlteredLineIsTold(t *testing.T) {
	dir := t.TempDir()
	s := busy(t, dir, nil)
	text := string(must[[]byte](t)(os.ReadFile(s.path(ledgerFile))))
	altered := strings.Replace(text, `"number":1,`, `"number":7,`, 1)
	if altered == text {
		t.Fatal("there is no such line")
	}
	if err := os.WriteFile(s.path(ledgerFile), []byte(altered), 0o600); err != nil {
		t.Fatal(err)
	}
	id := state.ID(2) // the one that has ended
	for who, ask := range map[string]func() ([]state.Problem, error){
		"of all": func() ([]state.Problem, error) {
			_, problems, err := s.Log(ctx, "", func(state.Line) bool { return true })
			return problems, err
		},
		"of its": func() ([]state.Problem, error) {
			_, problems, err := s.Log(ctx, id, func(state.Line) bool { return true })
			return problems, err
		},
		"follow": func() ([]state.Problem, error) {
			_, problems, err := s.After(ctx, "", state.Place{}, func(state.Line) bool { return true })
			return problems, err
		},
	} {
		if problems, err := ask(); err != nil || len(problems) != 1 || problems[0].Path != s.path(ledgerFile) {
			t.Errorf("%s: told %v, %v", who, problems, err)
		}
	}
	if list := said(t, dir, "ledger"); len(list) != 1 || list[0].Level == state.Fine {
		t.Errorf("the examination says %+v", list)
	}
}
