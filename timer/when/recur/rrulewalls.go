package recur

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

const (
	// maxPeriod is how many instants a period of a rule may have. All of them are made at once.
	maxPeriod = 4000
	// searchMonths is how many months are searched for a day before the rule counts as one that
	// never comes. The calendar repeats after 400 years. A rule whose large INTERVAL comes later
	// than that is refused as well.
	searchMonths = 5000
)

// maxPeriods is how many periods of each frequency may be empty in a row, or be counted for COUNT.
// With an interval of one, everything has come after 400 years.
var maxPeriods = [...]int{Yearly: 400, Monthly: 4800, Weekly: 10000, Daily: 10000}

// daySequence works out rules of DAILY and longer, one period (a year, a month, a week, a day) at a
// time. It finds the next period, and how many instants it has, from the days of its months,
// without making the instants.
type daySequence struct {
	parts  *Parts
	days   DayFilter
	start  int64   // the wall time of DTSTART
	first  int64   // the day of DTSTART
	times  []int64 // the instants of a day, in seconds
	months int     // the month of DTSTART, counted from year 0
	never  bool    // no year has such a day

	mu     sync.Mutex
	period [2]int64 // the first and the last day of the period in list
	list   []int64  // the wall times of that period
}

func newDaySequence(p *Parts, start time.Time) (*daySequence, error) {
	d := &daySequence{
		parts:  p,
		days:   p.filter(),
		start:  start.Unix(),
		first:  civil.FloorDiv(start.Unix(), 86400),
		months: start.Year()*12 + int(start.Month()) - 1,
		period: [2]int64{1, 0},
	}
	for _, h := range p.Lists[ByHour] {
		for _, m := range p.Lists[ByMinute] {
			for _, s := range p.Lists[BySecond] {
				d.times = append(d.times, int64(h*3600+m*60+s))
			}
		}
	}
	most := 1
	switch p.Freq {
	case Weekly:
		most = min(7, len(p.Weekdays))
	case Monthly, Yearly:
		most = d.mostDays()
		d.never = most == 0 && len(p.Lists[ByWeek]) == 0
	}
	if most*len(d.times) > maxPeriod {
		return nil, fmt.Errorf("it has more than %d instants in one period; write it with FREQ=MINUTELY or SECONDLY", maxPeriod)
	}
	return d, nil
}

// mostDays returns the largest number of days that a month or a year of the rule has. In 28 years
// there is a year of each kind. When even all days of a year are few enough, it stops at the first
// day that it finds.
func (d *daySequence) mostDays() (most int) {
	few := 366*len(d.times) <= maxPeriod
	for year := 2000; year < 2028; year++ {
		all := 0
		for month := 1; month <= 12; month++ {
			n := bits.OnesCount32(d.days.month(year, month))
			if all += n; d.parts.Freq == Monthly {
				most = max(most, n)
			} else {
				most = max(most, all)
			}
			if few && most > 0 {
				return most
			}
		}
	}
	return most
}

func (d *daySequence) nextWall(w int64) (int64, bool) {
	if d.never {
		return 0, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	w = max(w, d.start-1)
	day := civil.FloorDiv(w, 86400)
	if day < d.period[0] || day > d.period[1] {
		day, _ = d.around(day)
	} else if next, ok := after(d.list, w); ok {
		return next, true
	} else {
		day = d.period[1] + 1
	}
	for range maxPeriods[d.parts.Freq] {
		found, ok := d.nextDay(day)
		if !ok {
			return 0, false
		}
		d.expand(found)
		if next, ok := after(d.list, w); ok {
			return next, true
		}
		day = d.period[1] + 1
	}
	return 0, false
}

// after returns the first number of a sorted list after w.
func after(list []int64, w int64) (int64, bool) {
	i, _ := slices.BinarySearch(list, w+1)
	if i == len(list) {
		return 0, false
	}
	return list[i], true
}

// around returns the first and the last day of the period that a day is in.
func (d *daySequence) around(day int64) (first, last int64) {
	year, month, _ := civil.DateOf(day)
	switch d.parts.Freq {
	case Yearly:
		return civil.DayNumber(year, 1, 1), civil.DayNumber(year, 12, 31)
	case Monthly:
		return civil.DayNumber(year, month, 1), civil.DayNumber(year, month+1, 0)
	case Weekly:
		first = day - civil.FloorMod(int64(civil.Weekday(day)-d.parts.weekStart), 7)
		return first, first + 6
	}
	return day, day
}

// skip returns the first day, from day on, in a period that INTERVAL keeps.
func (d *daySequence) skip(day int64) int64 {
	if d.parts.Interval == 1 {
		return day
	}
	year, month, _ := civil.DateOf(day)
	switch d.parts.Freq {
	case Yearly:
		if ahead := civil.FloorMod(int64(d.months/12-year), d.parts.Interval); ahead > 0 {
			return civil.DayNumber(min(year+int(ahead), civil.LastYear+1), 1, 1)
		}
	case Monthly:
		if ahead := civil.FloorMod(int64(d.months-(year*12+month-1)), d.parts.Interval); ahead > 0 {
			return civil.DayNumber(min(year, civil.LastYear), month+int(min(ahead, 12*(civil.LastYear+1))), 1)
		}
	case Weekly:
		first, _ := d.around(day)
		origin, _ := d.around(d.first)
		if ahead := civil.FloorMod((origin-first)/7, d.parts.Interval); ahead > 0 {
			return first + 7*ahead
		}
	case Daily:
		return day + civil.FloorMod(d.first-day, d.parts.Interval)
	}
	return day
}

// nextDay returns the first day, from day on, that matches in a period of the rule.
func (d *daySequence) nextDay(day int64) (int64, bool) {
	for range searchMonths {
		day = d.skip(day)
		year, month, dom := civil.DateOf(day)
		if year > civil.LastYear {
			return 0, false
		}
		first := day - int64(dom) + 1
		for set := d.days.month(year, month) >> dom << dom; set != 0; {
			found := first + int64(bits.TrailingZeros32(set)) - 1
			if day = d.skip(found); day == found {
				return found, true
			}
			ahead := day - first + 1
			if ahead > 31 {
				set = 0
			} else {
				set = set >> ahead << ahead
			}
		}
		day = max(day, civil.DayNumber(year, month+1, 1))
	}
	return 0, false
}

// size returns how many instants the rule has in the period around a day.
func (d *daySequence) size(day int64) int {
	first, last := d.around(day)
	days := 0
	d.each(first, last, func(_ int64, set uint32) { days += bits.OnesCount32(set) })
	return picked(d.parts.Lists[BySetPos], days*len(d.times))
}

// each gives the matching days from first to last, month by month. Bit n of set is the day begin +
// n.
func (d *daySequence) each(first, last int64, month func(begin int64, set uint32)) {
	for day := first; day <= last; {
		y, m, dom := civil.DateOf(day)
		begin, next := day-int64(dom), civil.DayNumber(y, m+1, 1)
		set := d.days.month(y, m) >> dom << dom
		if next > last+1 {
			set &= uint32(uint64(1)<<(last-begin+1) - 1)
		}
		month(begin, set)
		day = next
	}
}

// expand lists the wall times of the period around a day that matches.
func (d *daySequence) expand(day int64) {
	first, last := d.around(day)
	d.period, d.list = [2]int64{first, last}, d.list[:0]
	n := d.size(day)
	if n == 0 || n > 2*maxPeriod {
		return
	}
	list := make([]int64, 0, 8)
	d.each(first, last, func(begin int64, set uint32) {
		for ; set != 0; set &= set - 1 {
			midnight := (begin + int64(bits.TrailingZeros32(set))) * 86400
			for _, t := range d.times {
				list = append(list, midnight+t)
			}
		}
	})
	positions := d.parts.Lists[BySetPos]
	for i, at := range list {
		if len(positions) == 0 || containsNth(positions, i+1, len(list)) {
			d.list = append(d.list, at)
		}
	}
}

// picked returns how many of n instants the positions choose. The positions are sorted.
func picked(positions []int, n int) int {
	if len(positions) == 0 {
		return n
	}
	taken := 0
	for _, p := range positions {
		if p < -n || p > n {
			continue
		}
		if _, twice := slices.BinarySearch(positions, p+n+1); p > 0 || !twice {
			taken++
		}
	}
	return taken
}

// nth returns the count-th wall time of the rule. It lists only the first and the last period and
// counts the others.
func (d *daySequence) nth(count int) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	day, _ := d.around(d.first)
	for n := range maxPeriods[d.parts.Freq] {
		found, ok := d.nextDay(day)
		if !ok {
			return math.MaxInt64, nil // the rule ends before
		}
		size := d.size(found)
		_, last := d.around(found)
		if n == 0 || count <= size {
			d.expand(found)
			list := d.list
			for len(list) > 0 && list[0] < d.start {
				list = list[1:]
			}
			if count <= len(list) {
				return list[count-1], nil
			}
			size = len(list) // of the first period, from DTSTART on
		}
		count -= size
		day = last + 1
	}
	return 0, tooMuch("its COUNT is too far away to be counted to")
}
