package recur

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cronField says what one field of a cron line may hold.
type cronField struct {
	name     string
	min, max int
	names    string // three letters each, in order from min
}

var (
	cronSecond  = &cronField{name: "second", max: 59}
	cronMinute  = &cronField{name: "minute", max: 59}
	cronHour    = &cronField{name: "hour", max: 23}
	cronDay     = &cronField{name: "day of month", min: 1, max: 31}
	cronMonth   = &cronField{name: "month", min: 1, max: 12, names: "janfebmaraprmayjunjulaugsepoctnovdec"}
	cronWeekday = &cronField{name: "weekday", max: 6, names: "sunmontuewedthufrisat"}
	cronYear    = &cronField{name: "year", min: 1970, max: 2099}
)

// cronSet is the content of a field.
type cronSet struct {
	text    string // with plain numbers instead of names and leading zeros
	star    bool   // the text begins with a star, which crontab(5) calls unrestricted
	all     bool   // a star alone, or every value from one
	values  [2100]bool
	special []string // L, LW, 15W, 5L, 1#3, as the library writes them
}

// read reads one field. Its error says what is wrong with it.
func (f *cronField) read(text string) (*cronSet, error) {
	set := &cronSet{star: text[0] == '*' || text[0] == '?'}
	if text == "?" && (f == cronDay || f == cronWeekday) {
		text = "*"
	}
	var plain []string
	for item := range strings.SplitSeq(text, ",") {
		done, err := f.item(item, set)
		if err != nil {
			return nil, err
		}
		plain = append(plain, done)
	}
	set.text = strings.Join(plain, ",")
	if set.star {
		set.all = true
		for v := f.min; v <= f.max; v++ {
			set.all = set.all && set.values[v]
		}
	}
	return set, nil
}

// item reads one member of a list into set and returns it in plain numbers.
func (f *cronField) item(item string, set *cronSet) (string, error) {
	if item == "" {
		return "", fmt.Errorf("an empty member in the %s list", f.name)
	}
	if plain, ok, err := f.special(item, set); ok || err != nil {
		return plain, err
	}
	span, stepText, stepped := strings.Cut(item, "/")
	step := 1
	if stepped {
		var err error
		if step, err = f.number(stepText); err != nil {
			return "", err
		}
		if step < 1 || step > f.max-f.min+1 {
			return "", fmt.Errorf("the %s step %d is not in 1-%d", f.name, step, f.max-f.min+1)
		}
	}
	first, last := f.min, f.max
	plain := "*"
	if span != "*" {
		low, high, ranged := strings.Cut(span, "-")
		var err error
		if first, err = f.value(low); err != nil {
			return "", err
		}
		plain = strconv.Itoa(first)
		switch {
		case ranged:
			if last, err = f.value(high); err != nil {
				return "", err
			}
			if last < first {
				return "", &backwards{f, item, f.forwards(first, last, step)}
			}
			plain += "-" + strconv.Itoa(last)
		case !stepped:
			last = first
		}
	}
	for v := first; v <= last; v += step {
		if f == cronWeekday {
			set.values[v%7] = true
		} else {
			set.values[v] = true
		}
	}
	if stepped {
		plain += "/" + strconv.Itoa(step)
	}
	return plain, nil
}

// backwards is the error of a range that ends before it begins.
type backwards struct {
	field    *cronField
	item     string // the member of the list
	forwards string // the same values in ranges that run forwards
}

func (b *backwards) Error() string {
	return fmt.Sprintf("the %s range %s runs backwards", b.field.name, b.item)
}

// turned returns a field with its backward ranges written forwards.
func (f *cronField) turned(text string) string {
	items := strings.Split(text, ",")
	for i, item := range items {
		var b *backwards
		if _, err := f.item(item, new(cronSet)); errors.As(err, &b) {
			items[i] = b.forwards
		}
	}
	return strings.Join(items, ",")
}

// forwards writes a range across the end of the field as one or two that run forwards, or as single
// values when it has steps. Years do not begin again, so the bounds of their range change places.
func (f *cronField) forwards(first, last, step int) string {
	swapped := ""
	switch {
	case f == cronYear:
		swapped = fmt.Sprintf("%d-%d", last, first)
	case f == cronWeekday && first == 7:
		swapped = fmt.Sprintf("0-%d", last)
	}
	if swapped != "" && step > 1 {
		return fmt.Sprintf("%s/%d", swapped, step)
	}
	if swapped != "" {
		return swapped
	}
	if step > 1 {
		var values []string
		size := f.max - f.min + 1
		for v := first; v <= last+size; v += step {
			values = append(values, strconv.Itoa((v-f.min)%size+f.min))
		}
		return strings.Join(values, ",")
	}
	tail := fmt.Sprintf("%d-%d", first, f.max)
	switch {
	case f == cronWeekday && last == 0:
		return fmt.Sprintf("%d-7", first)
	case first == f.max:
		tail = strconv.Itoa(first)
	}
	if last == f.min {
		return fmt.Sprintf("%s,%d", tail, last)
	}
	return fmt.Sprintf("%s,%d-%d", tail, f.min, last)
}

// special reads the forms of days that are not plain numbers: L, LW and nW of a month, nL and d#k
// of a weekday.
func (f *cronField) special(item string, set *cronSet) (plain string, ok bool, err error) {
	upper := strings.ToUpper(item)
	switch f {
	case cronDay:
		switch {
		case upper == "L" || upper == "LW":
			plain = upper
		case strings.HasSuffix(upper, "W"):
			day, err := f.value(item[:len(item)-1])
			if err != nil {
				return "", false, err
			}
			plain = strconv.Itoa(day) + "W"
		}
	case cronWeekday:
		day, nth, hash := strings.Cut(item, "#")
		switch {
		case hash:
			d, err := f.value(day)
			if err != nil {
				return "", false, err
			}
			k, err := f.number(nth)
			if err != nil {
				return "", false, err
			}
			if k < 1 || k > 5 {
				return "", false, fmt.Errorf("the weekday %s#%s: a month has the 1st to the 5th of one", day, nth)
			}
			plain = fmt.Sprintf("%d#%d", d%7, k)
		case len(item) > 1 && strings.HasSuffix(upper, "L"):
			d, err := f.value(item[:len(item)-1])
			if err != nil {
				return "", false, err
			}
			plain = strconv.Itoa(d%7) + "L"
		}
	}
	if plain == "" {
		return "", false, nil
	}
	set.special = append(set.special, plain)
	return plain, true, nil
}

// value reads a number or a name within the range of the field. 7 is Sunday as well.
func (f *cronField) value(text string) (int, error) {
	if len(text) == 3 && f.names != "" {
		if i := strings.Index(f.names, strings.ToLower(text)); i >= 0 && i%3 == 0 {
			return f.min + i/3, nil
		}
	}
	v, err := f.number(text)
	if err != nil {
		return 0, err
	}
	top := f.max
	if f == cronWeekday {
		top = 7
	}
	if v < f.min || v > top {
		return 0, fmt.Errorf("the %s %d is not in %d-%d", f.name, v, f.min, top)
	}
	return v, nil
}

// article returns the name of the field with "a" or "an" before it.
func (f *cronField) article() string {
	if f == cronHour {
		return "an " + f.name
	}
	return "a " + f.name
}

// number reads decimal digits. It refuses more than six, which no field can hold.
func (f *cronField) number(text string) (int, error) {
	v := 0
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%q is not %s", text, f.article())
		}
		if v = v*10 + int(c-'0'); v > 999999 {
			return 0, fmt.Errorf("the %s %s is too large", f.name, text)
		}
	}
	if text == "" {
		return 0, fmt.Errorf("a number is missing in the %s field", f.name)
	}
	return v, nil
}

// library writes the field for gorhill/cronexpr: only in numbers, ranges and special forms, which
// it reads correctly.
func (set *cronSet) library(f *cronField) string {
	if set.all {
		return "*"
	}
	items := slices.Clone(set.special)
	for v := f.min; v <= f.max; v++ {
		if !set.values[v] {
			continue
		}
		first := v
		for v < f.max && set.values[v+1] {
			v++
		}
		if v > first {
			items = append(items, strconv.Itoa(first)+"-"+strconv.Itoa(v))
		} else {
			items = append(items, strconv.Itoa(v))
		}
	}
	return strings.Join(items, ",")
}
