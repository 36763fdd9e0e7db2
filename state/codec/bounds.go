package codec

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// Bounds limit how much structure a TOML file may have. Without them, a file of 1 MiB could take
// any amount of memory and time: the library keeps the whole path of each key, and follows it again
// for each part of a dotted key. The size of the file bounds how long texts and lists are.
type Bounds struct {
	Depth int // how deep tables, lists and parts of keys may be nested
	Keys  int // how many parts of keys, lists and tables in lists there may be
	Path  int // how many bytes the parts of a key may have, with those of the tables around it
}

var (
	taskBounds = Bounds{Depth: 16, Keys: 10_000, Path: 1_000}
	// recordBounds hold for all other files of the state: a record has what a task has, and a
	// little more.
	recordBounds = Bounds{Depth: taskBounds.Depth + 2, Keys: taskBounds.Keys + 200, Path: taskBounds.Path + 100}
)

// noTOML is the message about a text if it is not known what is wrong with it.
const noTOML = "it is not TOML"

// decodeTOML is the only function that lets the library read. It returns a *SyntaxError, without
// calling the library, if the text exceeds the bounds.
func decodeTOML(text string, bounds Bounds, v any) (toml.MetaData, error) {
	s := tomlScan{text: withoutBOM(text), bounds: bounds}
	switch s.file(); {
	case s.exceeded != "":
		return toml.MetaData{}, &SyntaxError{Line: s.line(), Text: s.exceeded}
	case s.lost:
		// The library stops there, too, and has a better message. If it does not stop, it must not
		// see more than was counted.
		md, err := toml.Decode(s.text[:s.cut()], v)
		if err == nil {
			err = &SyntaxError{Line: s.line(), Text: noTOML}
		}
		return md, err
	}
	return toml.Decode(text, v)
}

// withoutBOM returns a text without the byte order mark, which the library skips.
func withoutBOM(text string) string {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff", "\ufeff"} {
		if rest, ok := strings.CutPrefix(text, mark); ok {
			return rest
		}
	}
	return text
}

// tomlScan parses a text as far as is needed to count its structure.
type tomlScan struct {
	text     string
	at       int // where it reads
	bounds   Bounds
	keys     int
	deep     int    // the greatest depth so far
	lost     bool   // the text is not TOML at at
	exceeded string // the message about the bound that is exceeded at at, or empty
}

// tomlPlace is a place in the tree.
type tomlPlace struct{ depth, path int }

// excerpt is how many bytes after the place where a text is not TOML the library gets, so that it
// can quote them.
const excerpt = 64

// cut returns where the text ends for the library if it is not TOML.
func (s *tomlScan) cut() int {
	end := min(s.at+excerpt, len(s.text))
	for end < len(s.text) && !utf8.RuneStart(s.text[end]) {
		end++
	}
	return end
}

// line is the number of the line at at.
func (s *tomlScan) line() int { return strings.Count(s.text[:s.at], "\n") + 1 }

// stop reports whether the scan has ended early.
func (s *tomlScan) stop() bool { return s.lost || s.exceeded != "" }

// lose notes that the text is not TOML here.
func (s *tomlScan) lose() { s.lost = true }

// count counts a part of a key, or a list, at a place, and returns its own place.
func (s *tomlScan) count(in tomlPlace, name int) tomlPlace {
	in.depth, in.path, s.keys = in.depth+1, in.path+name+1, s.keys+1
	s.deep = max(s.deep, in.depth)
	switch {
	case in.depth > s.bounds.Depth:
		s.exceeded = fmt.Sprintf("tables, lists and dotted keys are nested more than %d deep", s.bounds.Depth)
	case s.keys > s.bounds.Keys:
		s.exceeded = fmt.Sprintf("there are more than %d keys", s.bounds.Keys)
	case in.path > s.bounds.Path:
		s.exceeded = fmt.Sprintf("a key is longer than %d bytes", s.bounds.Path)
	}
	return in
}

// file scans the whole text.
func (s *tomlScan) file() {
	var table tomlPlace
	for !s.stop() {
		s.blank(true)
		switch {
		case s.stop() || s.at == len(s.text):
			return
		case s.take("[["):
			if table = s.key(tomlPlace{}); !s.stop() && !s.take("]]") {
				s.lose()
			}
		case s.take("["):
			if table = s.key(tomlPlace{}); !s.stop() && !s.take("]") {
				s.lose()
			}
		default:
			s.assignment(table)
		}
		if s.stop() {
			return
		}
		if s.blank(false); s.at < len(s.text) && !s.take("\n") && !s.take("\r\n") {
			s.lose()
		}
	}
}

// assignment scans a key, = and its value.
func (s *tomlScan) assignment(in tomlPlace) {
	in = s.key(in)
	if s.stop() {
		return
	}
	if !s.take("=") {
		s.lose()
		return
	}
	s.value(in)
}

// take skips what, and returns false if the text does not go on with it.
func (s *tomlScan) take(what string) bool {
	if !strings.HasPrefix(s.text[s.at:], what) {
		return false
	}
	s.at += len(what)
	return true
}

// spaces skips white space.
func (s *tomlScan) spaces() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t') {
		s.at++
	}
}

// blank skips white space and comments, and ends of lines if lines is true.
func (s *tomlScan) blank(lines bool) {
	for {
		s.spaces()
		switch {
		case s.at < len(s.text) && s.text[s.at] == '#':
			if n := strings.IndexByte(s.text[s.at:], '\n'); n < 0 {
				s.at = len(s.text)
			} else {
				s.at += n
			}
		case lines && (s.take("\n") || s.take("\r\n")):
		default:
			return
		}
	}
}

// key scans the parts of a key and the white space around them, and returns the place of the key.
func (s *tomlScan) key(in tomlPlace) tomlPlace {
	for {
		s.spaces()
		from := s.at
		switch {
		case s.at < len(s.text) && (s.text[s.at] == '"' || s.text[s.at] == '\''):
			s.short()
		default:
			for s.at < len(s.text) && bareByte(s.text[s.at]) {
				s.at++
			}
			s.lost = s.at == from
		}
		if s.stop() {
			return in
		}
		if in = s.count(in, keyBytes(s.text[from:s.at])); s.stop() {
			return in
		}
		if s.spaces(); !s.take(".") {
			return in
		}
	}
}

// keyBytes returns an upper bound of the length of a part of a key after it is decoded. It only
// counts that escapes of a character by its number become shorter.
func keyBytes(raw string) int {
	if !strings.HasPrefix(raw, `"`) {
		return len(raw)
	}
	size := len(raw)
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[raw[i]]
		if digits == 0 || i+1+digits > len(raw) {
			continue
		}
		if code, err := strconv.ParseUint(raw[i+1:i+1+digits], 16, 31); err == nil {
			size -= 2 + digits - max(1, utf8.RuneLen(rune(code)))
		}
	}
	return size
}

// bareByte reports whether a byte can be in a key without quotes.
func bareByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// value scans a value and the white space before it.
func (s *tomlScan) value(in tomlPlace) {
	s.spaces()
	switch {
	case s.take("["):
		s.list(s.count(in, 0), "]", s.value)
	case s.take("{"):
		s.list(s.count(in, 0), "}", s.assignment)
	case s.take(`"""`):
		s.long(`"""`)
	case s.take("'''"):
		s.long("'''")
	case s.at < len(s.text) && (s.text[s.at] == '"' || s.text[s.at] == '\''):
		s.short()
	default:
		from := s.at
		for s.at < len(s.text) && (bareByte(s.text[s.at]) || strings.IndexByte("+.: \t", s.text[s.at]) >= 0) {
			s.at++
		}
		s.lost = s.at == from
	}
}

// list scans what is in brackets, up to end. element scans one element of it.
func (s *tomlScan) list(in tomlPlace, end string, element func(tomlPlace)) {
	for !s.stop() {
		s.blank(true)
		if s.take(end) {
			return
		}
		if element(in); s.stop() {
			return
		}
		if s.blank(true); !s.take(",") {
			if !s.take(end) {
				s.lose()
			}
			return
		}
	}
}

// short scans a string on one line.
func (s *tomlScan) short() {
	quote := s.text[s.at]
	for i := s.at + 1; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == quote:
			s.at = i + 1
			return
		case c == '\n':
			s.at = i
			s.lose()
			return
		case c == '\\' && quote == '"' && i+1 < len(s.text) && s.text[i+1] != '\n':
			i++
		}
	}
	s.at = len(s.text)
	s.lose()
}

// long scans a string of several lines, from after its opening quotes. If more than three quotes
// follow each other, the last three of them end it.
func (s *tomlScan) long(quotes string) {
	for i := s.at; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '\\' && quotes[0] == '"':
			i++
		case c == quotes[0] && strings.HasPrefix(s.text[i:], quotes) && !strings.HasPrefix(s.text[i+1:], quotes):
			s.at = i + len(quotes)
			return
		}
	}
	s.at = len(s.text)
	s.lose()
}
