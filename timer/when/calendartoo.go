package when

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// calendarToo returns the error of a text that is no time by the grammar, or not one time, and that
// a calendar event may be as well: 10-15, and 9,17:30. It offers the event in its full form.
func (p *parser) calendarToo(e *fault.Error) *fault.Error {
	c, ok := recur.CalendarParts(p.typed)
	list := e.Candidates[:len(e.Candidates):len(e.Candidates)]
	switch {
	case !ok || c.Weekdays != "" || c.Zone != "":
		return nil
	// 9:00..17:00 would be 18 minutes of one hour
	case c.Date == "" && strings.Count(c.Clock, ":") == 1 && (strings.Contains(c.Clock, ",") || strings.Contains(c.Clock, "..")):
		list = p.withReading(list, "every day at "+c.Clock)
		c.Date = "*-*-*"
	case strings.Count(c.Date, "-") != 1:
		return nil
	default:
		first, second, _ := strings.Cut(c.Date, "-")
		for i, order := range [][2]string{{second, first}, {first, second}} {
			month, err := strconv.Atoi(order[1])
			if err == nil && month >= 1 && month <= 12 && (i == 0 || first != second) {
				list = p.withReading(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", order[0], time.Month(month), c.Clock)))
			}
		}
		c.Date = "*-" + c.Date
	}
	before := len(list)
	if list = p.withReading(list, strings.TrimSpace(c.Date+" "+c.Clock)); len(list) == before {
		return nil
	}
	e.Candidates, e.Code, e.Message = list, fault.CodeAmbiguous, fmt.Sprintf("the time expression %s is ambiguous: it may also be a calendar event of systemd", fault.Quoted(p.typed))
	e.Hint, e.Instead = sayCandidates(list), nil
	return e
}

// withReading adds a text to candidates if it is understood.
func (p *parser) withReading(list []fault.Candidate, text string) []fault.Candidate {
	if at, ok := p.means(text); ok {
		list = append(list, fault.Candidate{Text: text, At: at})
	}
	return list
}
