package ledger

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// TestSealedLines alters every byte of a line of the ledger, by every bit of it: it is told, as one that cannot be understood or one whose
// checksum is wrong, and never read as another. Lines of earlier versions have no checksum, and are read.
func TestSealedLines(t *testing.T) {
	at := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	for _, e := range []Entry{
		{Line: state.Line{Type: state.LineTask, At: at, TaskID: "cczu", Event: state.EventCreated, When: "in 5m", Zone: "Europe/Warsaw", Description: "tea"}, Store: Note{IDs: 1}},
		{Line: state.Line{Type: state.LineOccurrence, At: at, TaskID: "cczu", Number: 7, Due: &at, Count: 1, Outcome: state.OK, Started: &at, Ended: &at, ExitCode: new(int),
			Stdout: state.Output{Bytes: 12}}, Store: Note{IDs: 12, Mail: "20261123T080000.000000000Z"}},
		{Line: state.Line{Type: state.LineManual, At: at, TaskID: "cczu", Number: 8, Outcome: state.Failed, Reason: sumKey, Inbox: state.ItemFailure}, Store: Note{IDs: 12}},
		{Line: state.Line{Type: Head, At: at}, Store: Note{IDs: 12, Part: 2, Before: PartName(1)}},
	} {
		line, err := e.Text()
		if err != nil {
			t.Fatal(err)
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		if !sumMatches(line) || !bytes.Contains(line, []byte(sumKey)) {
			t.Fatalf("%s", line)
		}
		for i := range line {
			for bit := range 8 {
				if clocktest.Raced && bit != i%8 { // it takes a while
					continue
				}
				altered := bytes.Clone(line)
				altered[i] ^= 1 << bit
				if json.Valid(altered) && sumMatches(altered) {
					t.Errorf("byte %d, bit %d is altered, and nobody sees it: %s", i, bit, altered)
				}
			}
		}
	}
	for _, old := range []string{`{"type":"task","at":"2026-11-23T08:00:00Z","task_id":"cczu","event":"created","store":{"ids":1,"to":"x"}}`,
		`{"type":"task","at":"2026-11-23T08:00:00Z","task_id":"cczu","event":"created","text":",\"sum\":\"01234567\"}}","store":{"ids":1}}`} {
		if !sumMatches([]byte(old)) {
			t.Errorf("without a checksum it is wrong: %s", old)
		}
	}
}
