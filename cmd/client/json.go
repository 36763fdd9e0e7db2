package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// jsonFormat is the format JSON. comments is whether the client allows comments, and commas after
// the last value.
type jsonFormat struct{ comments bool }

// depthMost is how deep values may be nested, because the library has no bound of its own.
const depthMost = 1_000

// byteOrderMark may stand at the beginning of a text.
const byteOrderMark = "\ufeff"

// document is a JSON text. It keeps the blanks and comments between the values.
type document struct {
	whole   hujson.Value
	root    *hujson.Object
	mark    string // the byte order mark
	newline string
	indent  string // the indent of one level
}

func (f jsonFormat) install(text []byte, c Client, program string) (edited, error) {
	doc, err := f.open(text)
	if err != nil {
		return edited{}, err
	}
	fields := c.entry(program)
	e := edited{after: text, effect: Add, entry: doc.written([]field{{c.Table, []field{{server, fields}}}}, "", true)}
	servers, outer, err := doc.servers(c.Table)
	switch i := find(servers, server); {
	case err != nil:
		return e, err
	case servers == nil:
		doc.insert(doc.root, "", c.Table, []field{{server, fields}})
	case i < 0:
		doc.insert(servers, outer, server, fields)
	default:
		if e.effect = Replace; !doc.update(&servers.Members[i], fields) {
			return e, nil
		}
	}
	e.after = append([]byte(doc.mark), doc.whole.Pack()...)
	return e, f.check(text, e.after, c.Table, fields)
}

func (f jsonFormat) uninstall(text []byte, c Client) (edited, error) {
	e := edited{after: text, effect: Remove}
	doc, err := f.open(text)
	if err != nil {
		return e, err
	}
	servers, _, err := doc.servers(c.Table)
	i := find(servers, server)
	if err != nil || i < 0 {
		return e, err
	}
	remove(servers, i)
	e.after = append([]byte(doc.mark), doc.whole.Pack()...)
	return e, f.check(text, e.after, c.Table, nil)
}

// open parses a text. An empty text counts as an object without members.
func (f jsonFormat) open(text []byte) (*document, error) {
	doc := &document{newline: "\n", indent: "  "}
	if bytes.HasPrefix(text, []byte(byteOrderMark)) {
		doc.mark, text = byteOrderMark, text[len(byteOrderMark):]
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	if bytes.Contains(text, []byte("\r\n")) {
		doc.newline = "\r\n"
	}
	if plain.Deeper(text, depthMost) {
		return nil, errors.New("it is nested too deep")
	}
	var err error
	// The library changes the bytes that it gets.
	if doc.whole, err = hujson.Parse(slices.Clone(text)); err != nil {
		return nil, fmt.Errorf("it is not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if !f.comments && !doc.whole.IsStandard() {
		return nil, errors.New("it has comments, or commas after a last value, which the program does not allow")
	}
	if doc.root, _ = doc.whole.Value.(*hujson.Object); doc.root == nil {
		return nil, errors.New("it is not an object")
	}
	if len(doc.root.Members) > 0 {
		if blanks, own := indentOf(doc.root.Members[0]); own && blanks != "" {
			doc.indent = blanks
		}
	}
	return doc, nil
}

// servers returns the object of servers, or nil, and the indent of its line.
func (doc *document) servers(table string) (o *hujson.Object, outer string, err error) {
	i := find(doc.root, table)
	if i < 0 {
		return nil, "", nil
	}
	o, ok := doc.root.Members[i].Value.Value.(*hujson.Object)
	if !ok {
		err = fmt.Errorf("its %q is not an object", table)
	}
	outer, _ = indentOf(doc.root.Members[i])
	return o, outer, err
}

// find returns the index of a key among the members of an object; below zero when it is not there.
func find(o *hujson.Object, key string) int {
	if o == nil {
		return -1
	}
	return slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool {
		name, ok := m.Name.Value.(hujson.Literal)
		return ok && name.String() == key
	})
}

// indentOf returns the indent of a member, and whether the member has a line of its own.
func indentOf(m hujson.ObjectMember) (blanks string, own bool) {
	line := bytes.LastIndexByte(m.Name.BeforeExtra, '\n')
	return string(m.Name.BeforeExtra[line+1:]), line >= 0
}

// insert adds a member after the last one of an object, and after its comments.
func (doc *document) insert(o *hujson.Object, outer, key string, v any) {
	inner, n := outer+doc.indent, len(o.Members)
	lines := o == doc.root || doc.root.Members != nil && bytes.ContainsRune(doc.root.Members[0].Name.BeforeExtra, '\n')
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(key)}}
	if n > 0 {
		var blanks string
		if blanks, lines = indentOf(o.Members[0]); lines {
			inner = blanks
		}
		if o.Members[n-1].Value.AfterExtra != nil { // there is a comma after the last one
			m.Value.AfterExtra = []byte{}
		}
	}
	comments := commentsOf(o.AfterExtra)
	rest := slices.Clone(o.AfterExtra[len(comments):])
	between := ""
	switch {
	case lines || bytes.Contains(comments, []byte("//")):
		between = doc.newline + inner
		if !bytes.ContainsRune(rest, '\n') {
			rest = []byte(doc.newline + outer)
		}
	case n > 0:
		between = " "
	}
	m.Name.BeforeExtra = append(slices.Clone(comments), between...)
	m.Value.BeforeExtra = []byte(" ")
	m.Value.Value = value(doc.written(v, inner, lines))
	o.Members, o.AfterExtra = append(o.Members, m), rest
}

// remove removes a member, and keeps the comments before it.
func remove(o *hujson.Object, i int) {
	m, last := o.Members[i], len(o.Members)-1
	comments := slices.Clone(commentsOf(m.Name.BeforeExtra))
	o.Members = slices.Delete(o.Members, i, i+1)
	if i < last {
		next := &o.Members[i].Name
		next.BeforeExtra = append(comments, next.BeforeExtra...)
		return
	}
	if i > 0 {
		before := &o.Members[i-1].Value
		switch comma := m.Value.AfterExtra != nil; {
		case comma && before.AfterExtra == nil:
			before.AfterExtra = []byte{}
		case !comma:
			comments = append(slices.Clone(before.AfterExtra), comments...)
			before.AfterExtra = nil
		}
	}
	o.AfterExtra = append(comments, o.AfterExtra...)
	if i == 0 && len(commentsOf(o.AfterExtra)) == 0 {
		o.AfterExtra = nil
	}
}

// update gives an existing entry the values of the fields, and reports whether any value has
// changed.
func (doc *document) update(m *hujson.ObjectMember, fields []field) (changed bool) {
	blanks, lines := indentOf(*m)
	o, ok := m.Value.Value.(*hujson.Object)
	if !ok {
		m.Value.Value = value(doc.written(fields, blanks, lines))
		return true
	}
	for _, f := range fields {
		i, wanted := find(o, f.key), value(option.JSON(f.value))
		switch {
		case i < 0 && f.key == kindKey: // an entry without it means the same
		case i < 0:
			doc.insert(o, blanks, f.key, f.value)
			changed = true
		default:
			was := o.Members[i].Value.Clone()
			was.Minimize()
			if !bytes.Equal(was.Pack(), hujson.Value{Value: wanted}.Pack()) {
				o.Members[i].Value.Value, changed = wanted, true
			}
		}
	}
	return changed
}

// commentsOf returns the comments in the text between values, without the blanks at the end.
func commentsOf(extra hujson.Extra) hujson.Extra { return bytes.TrimRight(extra, " \t\r\n") }

// value parses a text that this package has written.
func value(text string) hujson.ValueTrimmed {
	v, err := hujson.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return v.Value
}

// written returns a value as text. Fields become an object, on lines that begin with blanks, or on
// one line.
func (doc *document) written(v any, blanks string, lines bool) string {
	fields, ok := v.([]field)
	if !ok {
		return option.JSON(v)
	}
	var members []string
	for _, f := range fields {
		members = append(members, fmt.Sprintf("%q: %s", f.key, doc.written(f.value, blanks+doc.indent, lines)))
	}
	if !lines {
		return "{" + strings.Join(members, ", ") + "}"
	}
	between := doc.newline + blanks + doc.indent
	return "{" + between + strings.Join(members, ","+between) + doc.newline + blanks + "}"
}

// check verifies that an edit changed only what it should.
func (f jsonFormat) check(before, after []byte, table string, fields []field) error {
	var trees [2]map[string]any
	for i, text := range [][]byte{before, after} {
		doc, err := f.open(text)
		if err != nil {
			return err
		}
		doc.whole.Standardize()
		d := json.NewDecoder(bytes.NewReader(doc.whole.Pack()))
		d.UseNumber()
		if err := d.Decode(&trees[i]); err != nil {
			return err
		}
	}
	return verify(trees[0], trees[1], table, fields)
}
