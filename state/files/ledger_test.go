package files

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestSealedLines alters every byte of a line of the ledger, by every bit of it: it is told, as one that cannot be understood or one whose
// checksum is wrong, and never read as another. Lines of earlier versions have no checksum, and are read.
func TestSealedLines(t *testing.T) {
	s := busy(t, scratch(t), nil)
	data := must[[]byte](t)(os.ReadFile(s.path(ledgerFile)))
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	if len(lines) < 8 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil || !sealed(line) || !bytes.Contains(line, []byte(sumKey)) {
			t.Fatalf("%v %s", err, line)
		}
		again := must[[]byte](t)(e.text())
		if string(again) != string(line)+"\n" {
			t.Errorf("read and written again it is\n%s\nand was\n%s", again, line)
		}
		for i := range line {
			for bit := range 8 {
				altered := bytes.Clone(line)
				altered[i] ^= 1 << bit
				if json.Valid(altered) && sealed(altered) {
					t.Errorf("byte %d, bit %d is altered, and nobody sees it: %s", i, bit, altered)
				}
			}
		}
	}
	for _, old := range []string{`{"type":"task","at":"2026-11-23T08:00:00Z","task_id":"cczu","event":"created","store":{"ids":1,"to":"x"}}`,
		`{"type":"task","at":"2026-11-23T08:00:00Z","task_id":"cczu","event":"created","text":",\"sum\":\"01234567\"}}","store":{"ids":1}}`} {
		if !sealed([]byte(old)) {
			t.Errorf("without a checksum it is wrong: %s", old)
		}
	}
}

// TestTextThatLooksLikeASeal: what users write comes into lines of the ledger, and is none of a line's own checksum.
func TestTextThatLooksLikeASeal(t *testing.T) {
	s := lazy(t, scratch(t), nil)
	for _, text := range []string{sumKey, sumKey + `00000000"}}`, `"}}`, `x","sum":"12345678"}}` + "\n", `\",\"sum\":\"12345678`} {
		must[state.Entry](t)(s.Add(ctx, once(text), day0))
	}
	data := must[[]byte](t)(os.ReadFile(s.path(ledgerFile)))
	for line := range strings.Lines(string(data)) {
		if !sealed([]byte(strings.TrimSuffix(line, "\n"))) {
			t.Errorf("it is taken for altered: %s", line)
		}
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
