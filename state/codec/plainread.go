package codec

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state"
)

// plainReader reads text that writePlain has made.
type plainReader struct {
	text    string // what it has not read yet
	scratch []byte
}

// readPlainFile decodes a file into a zero struct if the file is exactly as Encode writes it. The
// library would decode the same struct. It returns false, and the struct stays zero, for any other
// file, valid or not: the library decides about those.
func readPlainFile(data []byte, into any) bool {
	return bytes.HasSuffix(data, []byte("\n"+endLine)) && readPlain(data[:len(data)-len(endLine)], into)
}

// readPlain is readPlainFile of a text without the last line.
func readPlain(text []byte, into any) bool {
	v := reflect.ValueOf(into).Elem()
	if v.Kind() != reflect.Struct {
		return false
	}
	l := layoutOf(v.Type())
	r := plainReader{text: string(text), scratch: make([]byte, 0, 64)}
	if l.known && utf8.Valid(text) && r.table(l, v) && r.text == "" {
		return true
	}
	v.SetZero()
	return false
}

// table reads the lines of a table, and the tables in it.
func (r *plainReader) table(l *layout, v reflect.Value) bool {
	for i := range l.values {
		f := &l.values[i]
		if !strings.HasPrefix(r.text, f.start) {
			if !f.omit {
				return false
			}
			continue
		}
		line := r.text[len(f.start):]
		field := v.FieldByIndex(f.index).Addr().Interface()
		if text, ok := field.(*string); ok {
			if plain, rest, ok := cutPlain(line); ok {
				*text, r.text = plain, rest
				continue
			}
		}
		value, rest, _ := strings.Cut(line, "\n")
		if at, ok := field.(*time.Time); ok {
			if *at, ok = readInstant(value); !ok {
				return false
			}
			r.text = rest
			continue
		}
		if !readValue(field, value) {
			return false
		}
		// The library reads a value that is written in another form, even if readValue could.
		if r.scratch, _, _ = appendValue(r.scratch[:0], field); string(r.scratch) != value {
			return false
		}
		r.text = rest
	}
	for i := range l.tables {
		t := &l.tables[i]
		if !strings.HasPrefix(r.text, t.start) {
			continue
		}
		r.text = r.text[len(t.start):]
		if field := v.FieldByIndex(t.index); t.of != nil && !r.table(t.of, field) || t.of == nil && !r.variables(field) {
			return false
		}
	}
	return true
}

// maxVariables and maxName limit how many variables are read here, and how long their names are.
// They are far below taskBounds, so that those need not be checked.
const (
	maxVariables = 1_000
	maxName      = 500
)

// variables reads the lines of a table whose keys are the user's.
func (r *plainReader) variables(field reflect.Value) bool {
	of := make(map[string]string, min(strings.Count(r.text, "\n"), maxVariables))
	field.Set(reflect.ValueOf(of))
	lines := 0
	for ; r.text != "" && r.text[0] != '\n' && r.text[0] != '['; lines++ {
		name, line, _ := strings.Cut(r.text, " = ")
		value, rest, ok := cutPlain(line)
		if !ok || !bareKey(name) {
			name, value, rest, ok = r.variable()
		}
		if !ok || lines == maxVariables || len(name) > maxName {
			return false
		}
		of[name], r.text = value, rest
	}
	return len(of) == lines // false if a name is there twice
}

// variable reads a line of such a table.
func (r *plainReader) variable() (name, value, rest string, ok bool) {
	line, rest, _ := strings.Cut(r.text, "\n")
	name, after, quoted := cutText(line)
	if !quoted {
		name, after, _ = strings.Cut(line, " = ")
	}
	value, _, ok = cutText(strings.TrimPrefix(after, " = "))
	r.scratch = appendVariable(r.scratch[:0], name, value)
	return name, value, rest, ok && string(r.scratch) == line
}

// readValue reads what appendValue writes. It may also accept other forms.
func readValue(field any, text string) (ok bool) {
	var err error
	switch v := field.(type) {
	case *string:
		*v, _, ok = cutText(text)
		return ok
	case *bool:
		*v = text == "true"
	case *int:
		*v, err = strconv.Atoi(text)
	case *int64:
		*v, err = strconv.ParseInt(text, 10, 64)
	case *uint64: // the library reads no more than an int64
		*v, err = strconv.ParseUint(text, 10, 63)
	case *[]string:
		*v, ok = readTexts(text)
		return ok
	case *[]state.Stretch:
		texts, ok := readTexts(text)
		*v = make([]state.Stretch, len(texts))
		for i := range texts {
			ok = ok && (*v)[i].UnmarshalText([]byte(texts[i])) == nil
		}
		return ok
	}
	return err == nil
}

// readInstant reads an instant in the form in which it is written: in UTC, without trailing zeros
// of the fraction. It checks the length and the place of the dot, because time.Parse accepts other
// forms, too: an hour of one digit, or a comma.
func readInstant(text string) (at time.Time, ok bool) {
	const whole = len("2006-01-02T15:04:05Z")
	n := len(text)
	if n < whole || text[n-1] != 'Z' || n > whole && (text[whole-1] != '.' || text[n-2] < '1' || n > len("2006-01-02T15:04:05.999999999Z")) {
		return at, false
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	return at, err == nil
}

// readTexts reads a list of strings.
func readTexts(text string) (list []string, ok bool) {
	text, ok = strings.CutPrefix(text, "[")
	for ok {
		var s string
		if s, text, ok = cutText(text); !ok {
			return nil, false
		}
		list = append(list, s)
		if text == "]" {
			return list, true
		}
		text, ok = strings.CutPrefix(text, ", ")
	}
	return nil, false
}

// cutPlain reads a line that is a string without escapes, and returns what follows the line.
func cutPlain(text string) (s, rest string, ok bool) {
	for i := 1; i < len(text) && text[0] == '"'; i++ {
		switch c := text[i]; {
		case c == '"':
			rest, ok = strings.CutPrefix(text[i+1:], "\n")
			return text[1:i], rest, ok
		case c < ' ' || c == '\\' || c == 0x7f:
			return "", "", false
		}
	}
	return "", "", false
}

// cutText reads a string at the beginning of a text, and returns what follows it.
func cutText(text string) (s, rest string, ok bool) {
	// Most strings have no escapes, and this is far quicker for them.
	if after, found := strings.CutPrefix(text, `"`); found {
		if s, rest, ok = strings.Cut(after, `"`); ok && !strings.Contains(s, `\`) {
			return s, rest, true
		}
	}
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", "", false
	}
	s, err = strconv.Unquote(quoted)
	return s, text[len(quoted):], err == nil
}
