package cmd

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// mostColumns is how wide a line with a comment may be. A tab counts as four columns.
const mostColumns = 100

// notYetNarrow are the packages with comments that are still wider. A package that is done leaves
// the list. Tests are not held to it.
var notYetNarrow = []string{
	"state/fleet/natstest",
}

// TestCommentsFit holds comments to mostColumns, so that they can be read beside other windows.
func TestCommentsFit(t *testing.T) {
	wide := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		place, _ := filepath.Rel("..", path)
		of := filepath.ToSlash(filepath.Dir(place))
		for _, at := range wideComments(path, text) {
			if wide[of] = true; !slices.Contains(notYetNarrow, of) {
				t.Errorf("%s: a line with a comment is wider than %d columns", at, mostColumns)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range notYetNarrow {
		if !wide[of] {
			t.Errorf("%s has no wide comments any more: take it off the list", of)
		}
	}
}

// wideComments returns the places of comments in lines that are too wide. Directives, such as
// those of go generate, cannot be wrapped.
func wideComments(path string, text []byte) (places []string) {
	files := token.NewFileSet()
	var s scanner.Scanner
	s.Init(files.AddFile(path, -1, len(text)), text, nil, scanner.ScanComments)
	lines := strings.Split(string(text), "\n")
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return places
		}
		if tok != token.COMMENT || strings.HasPrefix(lit, "//go:") ||
			strings.HasPrefix(lit, "//nolint") {
			continue
		}
		at := files.Position(pos)
		line := strings.ReplaceAll(lines[at.Line-1], "\t", "    ")
		if utf8.RuneCountInString(line) > mostColumns {
			places = append(places, at.String())
		}
	}
}

// TestWideComments sees that the measure finds what is wide, and nothing else.
func TestWideComments(t *testing.T) {
	long := strings.Repeat("x", mostColumns)
	for text, want := range map[string]int{
		"package p\n// short\n":                      0,
		"package p\n// " + long + "\n":               1,
		"package p\n//go:generate " + long + "\n":    0,
		"package p\nvar s = \"" + long + "\"\n":      0,
		"package p\nvar s = \"" + long + "\" // s\n": 1,
		"package p\n\t// " + long[8:] + "\n":         0,
		"package p\n\t\t// " + long[8:] + "\n":       1,
	} {
		if got := wideComments("p.go", []byte(text)); len(got) != want {
			t.Errorf("%q has %d wide comments, want %d: %v", text, len(got), want, got)
		}
	}
}
