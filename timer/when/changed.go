package when

import (
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// clockChange notes what a change of the clocks did to the time of day tod. Either the clocks skip
// it, and the instant is later by as much as they go forward; or it comes twice, and this is one of
// the two.
func (s *Schedule) clockChange(tod time.Duration) {
	const day = 24 * time.Hour
	wall := civil.Wall(s.At, s.Zone)
	shown := wall.Sub(civil.Midnight(wall))
	if tod %= day; shown != tod {
		s.note(recur.NoteClocks, "%s does not exist on %s, when the clocks go forward; it is read as %s",
			clockOf(tod), s.At.Format("2 January 2006"), clockOf(shown))
		return
	}
	first, second, n := civil.InstantsOf(wall, s.Zone)
	if n != 2 {
		return
	}
	which, other := "first", second
	if s.At.Equal(second) {
		which, other = "second", first
	}
	note := fmt.Sprintf("%s comes twice on %s, when the clocks go back; this is the %s time", clockOf(tod), s.At.Format("2 January 2006"), which)
	if which == "first" {
		text := other.Format(time.RFC3339)
		note += fmt.Sprintf("; for the second say %q", text)
		s.Others = append(s.Others, fault.Candidate{Text: text, At: other})
	}
	s.note(recur.NoteClocks, "%s", note)
}
