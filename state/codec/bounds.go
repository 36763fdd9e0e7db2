package codec

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// Bounds are how much structure a TOML file may have. For each key the library keeps the whole path
// to it, and for each part of a dotted key it walks there anew: what a file of 1 MiB takes would
// otherwise be any amount of memory and time. How long texts and lists are is bounded by the size
// of the file.
type Bounds struct {
	Depth int // of tables, lists and parts of keys within each other
	Keys  int // parts of keys, lists and tables in lists
	Path  int // bytes of the parts of a key, as they are read, with those of the tables around it
}

var (
	taskBounds = Bounds{Depth: 16, Keys: 10_000, Path: 1_000}
	// recordBounds hold for all other files of ours: a record has whatever a task has, and a little
	// around it.
	recordBounds = Bounds{Depth: taskBounds.Depth + 2, Keys: taskBounds.Keys + 200, Path: taskBounds.Path + 100}
)

// noTOML is what is wrong with a file of which no more can be said.
const noTOML = "it is not TOML"

// decodeTOML is the one call of the library that reads. It refuses, with a *SyntaxError, what is
// beyond the bounds, before the library sees it.
func decodeTOML(text string, most Bounds, v any) (toml.MetaData, error) {
	s := tomlScan{text: unmarked(text), most: most}
	switch s.file(); {
	case s.beyond != "":
		return toml.MetaData{}, &SyntaxError{Line: s.line(), Text: s.beyond}
	case s.lost:
		// The library stops there, too, and has a better word for it. Should it go on, it is not to
		// see what nobody has counted.
		md, err := toml.Decode(s.text[:s.mark()], v)
		if err == nil {
			err = &SyntaxError{Line: s.line(), Text: noTOML}
		}
		return md, err
	}
	return toml.Decode(text, v)
}

// unmarked is a text without the byte order mark that the library goes over.
func unmarked(text string) string {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff", "\ufeff"} {
		if rest, ok := strings.CutPrefix(text, mark); ok {
			return rest
		}
	}
	return text
}

// tomlScan follows a text as far as is needed to count.
type tomlScan struct {
	text   string
	at     int
	most   Bounds
	keys   int
	deep   int    // the deepest
	lost   bool   // at is where it is not TOML
	beyond string // which bound was passed at at
}

// tomlAt is a place in the tree.
type tomlAt struct{ depth, path int }

// markRoom is how much the library is shown of what stands behind the place where a text cannot be
// followed: enough to quote from.
const markRoom = 64

// mark is where the text is cut for that.
func (s *tomlScan) mark() int {
	end := min(s.at+markRoom, len(s.text))
	for end < len(s.text) && !utf8.RuneStart(s.text[end]) {
		end++
	}
	return end
}

func (s *tomlScan) line() int { return strings.Count(s.text[:s.at], "\n") + 1 }

// stop reports whether there is nothing more to follow.
func (s *tomlScan) stop() bool { return s.lost || s.beyond != "" }

// lose notes that the text cannot be followed from here on.
func (s *tomlScan) lose() { s.lost = true }

// count notes a part of a key, or a list, within a place, and returns where that is.
func (s *tomlScan) count(in tomlAt, name int) tomlAt {
	in.depth, in.path, s.keys = in.depth+1, in.path+name+1, s.keys+1
	s.deep = max(s.deep, in.depth)
	switch {
	case in.depth > s.most.Depth:
		s.beyond = fmt.Sprintf("tables, lists and dotted keys are nested more than %d deep", s.most.Depth)
	case s.keys > s.most.Keys:
		s.beyond = fmt.Sprintf("there are more than %d keys", s.most.Keys)
	case in.path > s.most.Path:
		s.beyond = fmt.Sprintf("a key is longer than %d bytes", s.most.Path)
	}
	return in
}

// file follows the whole text.
func (s *tomlScan) file() {
	var table tomlAt
	for !s.stop() {
		s.blank(true)
		switch {
		case s.stop() || s.at == len(s.text):
			return
		case s.take("[["):
			if table = s.key(tomlAt{}); !s.stop() && !s.take("]]") {
				s.lose()
			}
		case s.take("["):
			if table = s.key(tomlAt{}); !s.stop() && !s.take("]") {
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

// assignment follows a key, = and its value.
func (s *tomlScan) assignment(in tomlAt) {
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

// take goes over what stands here, if it does.
func (s *tomlScan) take(what string) bool {
	if !strings.HasPrefix(s.text[s.at:], what) {
		return false
	}
	s.at += len(what)
	return true
}

// spaces goes over white space.
func (s *tomlScan) spaces() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t') {
		s.at++
	}
}

// blank goes over white space and comments, and over the ends of lines if it is told to.
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

// key follows the parts of a key and the white space around them.
func (s *tomlScan) key(in tomlAt) tomlAt {
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

// keyBytes is at most how long a part of a key is when it has been read. Only escapes of a
// character by its number are shorter then.
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

func bareByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// value follows a value and the white space before it.
func (s *tomlScan) value(in tomlAt) {
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

// list follows what stands in brackets.
func (s *tomlScan) list(in tomlAt, end string, one func(tomlAt)) {
	for !s.stop() {
		s.blank(true)
		if s.take(end) {
			return
		}
		if one(in); s.stop() {
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

// short follows a text on one line.
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

// long follows a text of many lines, behind its quotes. Of a row of more than three the last three
// end it.
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
