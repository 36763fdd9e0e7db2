package clitest

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// The columns and rows of a picture, in its points.
const columnWidth, rowHeight = 8, 17

// Picture is a screen of so many columns as SVG: a text each for what stands in one style, at its
// column. Rows have the escapes of ECMA-48 (SGR) for their styles.
func Picture(rows []string, columns int) string {
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

// part is text in one style, named by the number of its escape.
type part struct {
	style  string
	column int
	text   string
}

// parts splits a row of the screen into parts of one style.
func parts(row string) (list []part) {
	p := part{}
	for {
		text, rest, styled := strings.Cut(row, "\x1b[")
		if p.text = text; text != "" {
			list = append(list, p)
			p.column += cli.Columns(text)
		}
		if !styled {
			return list
		}
		p.style, row, _ = strings.Cut(rest, "m")
	}
}

// These are the styles that change more than the colour.
const bold, reverse = "1", "7"

// fills are the colours of those that have one.
var fills = map[string]string{"2": "#868b96", "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "36": "#76d3e0", reverse: "#1b1d23"}

func (p part) draw(b *strings.Builder, row int) {
	if strings.TrimSpace(p.text) == "" && p.style != reverse {
		return
	}
	x, y, width := (p.column+1)*columnWidth, row*rowHeight+rowHeight/2, cli.Columns(p.text)*columnWidth
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
