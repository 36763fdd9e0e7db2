package top

import (
	"encoding/xml"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestPictures holds the pictures of docs/top.md to what is drawn; go test ./cmd/top -run TestPictures -update makes them anew.
func TestPictures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path          string
		width, height int
		keys          string
	}{
		{"../../docs/top.svg", 124, 28, "down"},
		{"../../docs/top-add.svg", 80, 20, "a =in space =5m"},
	} {
		m := showing(t, &recorder{}, c.width, c.height, looks{colour: true}, busy())
		m, _ = press(t, m, strings.Fields(c.keys)...)
		m = detailed(m)
		got := picture(m.screen(), c.width)
		if *update {
			if err := os.WriteFile(c.path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(c.path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is another picture than what is drawn; -update makes it anew", c.path)
		}
	}
}

// The columns and rows of a picture, in its points.
const columnWidth, rowHeight = 8, 17

// picture is a screen as SVG: a text each for what stands in one style, at its column.
func picture(rows []string, columns int) string {
	var b strings.Builder
	width, height := (columns+2)*columnWidth, (len(rows)+1)*rowHeight
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="6" fill="#1b1d23"/>`+"\n")
	fmt.Fprintf(&b, `<g font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="13" fill="#d6d8dd" xml:space="preserve">`+"\n")
	for i, row := range rows {
		for _, p := range parts(row) {
			p.draw(&b, i)
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// part is text in one style.
type part struct {
	style
	column int
	text   string
}

// parts takes a row of the screen apart.
func parts(row string) (list []part) {
	p := part{}
	end := func() {
		if p.text != "" {
			list = append(list, p)
		}
		p.column, p.text = p.column+ansi.StringWidth(p.text), ""
	}
	for row != "" {
		if code, rest, ok := strings.Cut(strings.TrimPrefix(row, "\x1b["), "m"); ok && strings.HasPrefix(row, "\x1b[") {
			end()
			p.style, row = style(code), rest
			continue
		}
		letter, _ := ansi.FirstGraphemeCluster(row, ansi.GraphemeWidth)
		p.text, row = p.text+letter, row[len(letter):]
	}
	end()
	return list
}

// fills are the colours of the styles that have one.
var fills = map[style]string{dim: "#868b96", red: "#ff7b72", green: "#7ee787", yellow: "#e3b341", cyan: "#76d3e0", reverse: "#1b1d23"}

func (p part) draw(b *strings.Builder, row int) {
	if strings.TrimSpace(p.text) == "" && p.style != reverse {
		return
	}
	x, y, width := (p.column+1)*columnWidth, row*rowHeight+rowHeight/2, ansi.StringWidth(p.text)*columnWidth
	look := ""
	if fill := fills[p.style]; fill != "" {
		look = fmt.Sprintf(` fill="%s"`, fill)
	}
	switch p.style {
	case bold:
		look = ` font-weight="bold"`
	case reverse:
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="#d6d8dd"/>`+"\n", x, y, width, rowHeight)
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" textLength="%d"%s>`, x, y+rowHeight*3/4, width, look)
	if err := xml.EscapeText(b, []byte(p.text)); err != nil {
		panic(err) // a strings.Builder takes everything
	}
	b.WriteString("</text>\n")
}
