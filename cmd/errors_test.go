package cmd

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// errorsPage is the page of all messages of errors, which TestErrorsPage makes of the source.
const errorsPage = "../docs/errors.md"

// TestErrorsPage: docs/errors.md has each message of an error under its code, as the source has it. With -update it is written anew.
func TestErrorsPage(t *testing.T) {
	said := messages(t)
	var page bytes.Buffer
	page.WriteString(`# Errors

Find the message that you saw, and what you can do about it. ` + "`…`" + ` stands for what your call said. The code is ` + "`error.code`" + ` in JSON; programs
should look at the code and never at the message, which may change.
`)
	count := 0
	for _, c := range problem.Codes {
		list := said[c.Code]
		fmt.Fprintf(&page, "\n## %s\n\nExit code %d: %s.\n", c.Code, c.Exit, c.Means)
		if len(list) == 0 {
			continue
		}
		page.WriteString("\n| message | what to do |\n|---|---|\n")
		for _, m := range slices.SortedFunc(maps.Keys(list), saying.less) {
			page.WriteString("| " + cell(m.message) + " | " + cell(m.hint) + " |\n")
			count++
		}
	}
	if count < 300 {
		t.Errorf("only %d messages were found in the source", count)
	}
	old, _ := os.ReadFile(errorsPage)
	if bytes.Equal(old, page.Bytes()) {
		return
	}
	if !*update {
		t.Fatal("docs/errors.md has not the messages that the source has: go test ./cmd -run TestErrorsPage -update")
	}
	if err := os.WriteFile(errorsPage, page.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func cell(text string) string {
	return strings.TrimSpace(strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(text))
}

// saying is a message with its hint, as they stand in the source.
type saying struct{ message, hint string }

func (s saying) less(o saying) int {
	return cmp.Or(strings.Compare(s.message, o.message), strings.Compare(s.hint, o.hint))
}

// helper is a function that makes a problem of what it is given: the places of the message and the hint among its arguments.
type helper struct {
	code          problem.Code
	message, hint int
}

// messageReader finds the messages of a source.
type messageReader struct {
	said    map[problem.Code]map[saying]bool
	helpers map[string]helper
	codes   map[string]problem.Code
}

// messages finds what is said in problems, by their codes.
func messages(t *testing.T) map[problem.Code]map[saying]bool {
	r := messageReader{said: map[problem.Code]map[saying]bool{}, codes: map[string]problem.Code{}, helpers: map[string]helper{
		"problem.Of": {problem.Usage, 0, 1},
	}}
	var sources []*ast.File
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err == nil {
			sources = append(sources, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range sources {
		if f.Name.Name == "problem" {
			r.readCodes(f)
		}
	}
	for range 2 { // first the functions that make problems of texts they are given, then who calls them
		for _, f := range sources {
			r.read(f)
		}
	}
	return r.said
}

// readCodes reads the constants of type Code: those of package when are in its own words.
func (r *messageReader) readCodes(f *ast.File) {
	values := problem.Code("").Values()
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Names) != 1 || len(v.Values) != 1 {
			return true
		}
		if id, ok := v.Type.(*ast.Ident); !ok || id.Name != "Code" {
			return true
		}
		text := literal(v.Values[0])
		if s, ok := v.Values[0].(*ast.SelectorExpr); ok {
			word := strings.ToLower(strings.TrimPrefix(s.Sel.Name, "Code"))
			at := slices.IndexFunc(values, func(v string) bool {
				return strings.ReplaceAll(v, "_", "") == word || v == "time_"+word || v == "zone_unknown" && word == "zone"
			})
			if at < 0 {
				at = slices.IndexFunc(values, func(v string) bool { return strings.Contains(strings.ReplaceAll(v, "_", ""), word) })
			}
			if at >= 0 {
				text = values[at]
			}
		}
		r.codes[v.Names[0].Name] = problem.Code(text)
		return true
	})
}

// read notes what a file says, and which of its functions say what they are given.
func (r *messageReader) read(f *ast.File) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		var params []string
		for _, p := range fn.Type.Params.List {
			for _, n := range p.Names {
				params = append(params, n.Name)
			}
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			h, ok := r.helperOf(call, f.Name.Name)
			if !ok {
				return true
			}
			message := argument(call, h.message)
			hint := argument(call, h.hint)
			m, g := slices.Index(params, name(message)), slices.Index(params, name(hint))
			if m >= 0 {
				r.helpers[f.Name.Name+"."+fn.Name.Name] = helper{h.code, m, g}
				return true
			}
			hints := texts(fn.Body, hint)
			for _, said := range texts(fn.Body, message) {
				if strings.Trim(said, "… :") == "" {
					continue
				}
				advice := ""
				if len(hints) > 0 {
					advice = strings.Join(hints, " — or: ")
				}
				if r.said[h.code] == nil {
					r.said[h.code] = map[saying]bool{}
				}
				r.said[h.code][saying{said, advice}] = true
			}
			return true
		})
	}
}

// helperOf is the function that a call calls, when it makes a problem.
func (r *messageReader) helperOf(call *ast.CallExpr, pkg string) (helper, bool) {
	fun := name(call.Fun)
	if !strings.Contains(fun, ".") {
		fun = pkg + "." + fun
	}
	if fun == "problem.New" && len(call.Args) == 3 {
		code := name(call.Args[0])
		c, ok := r.codes[code[strings.LastIndex(code, ".")+1:]]
		return helper{c, 1, 2}, ok
	}
	h, ok := r.helpers[fun]
	return h, ok
}

func argument(call *ast.CallExpr, i int) ast.Expr {
	if i < 0 || i >= len(call.Args) {
		return nil
	}
	return call.Args[i]
}

// name is that of an identifier, alone or of a package; "" for anything else.
func name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if p := name(e.X); p != "" {
			return p + "." + e.Sel.Name
		}
	}
	return ""
}

// texts is what an expression of a text says, in a function: what a variable was given there, when it is one.
func texts(body *ast.BlockStmt, e ast.Expr) (list []string) {
	if v, ok := e.(*ast.Ident); ok {
		ast.Inspect(body, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for i, l := range a.Lhs {
				if name(l) == v.Name && i < len(a.Rhs) && len(a.Lhs) == len(a.Rhs) {
					if s := phrase(a.Rhs[i]); s != "…" && s != "" && !slices.Contains(list, s) {
						list = append(list, s)
					}
				}
			}
			return true
		})
		return list
	}
	if e == nil {
		return nil
	}
	if s := phrase(e); s != "" {
		list = append(list, s)
	}
	return list
}

// wellKnown are parts of messages that have names.
var wellKnown = map[string]string{"problem.Command": "`-- COMMAND`", "problem.When": "WHEN", "cli.EveryTask": "`ouro-timer ls --all`"}

var verb = regexp.MustCompile(`%(?:[#+-]?[0-9.]*)([a-zA-Z%])`)

// phrase is an expression as a reader sees it: options and calls as they are typed, an ellipsis for what only the call says.
func phrase(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		return literal(e)
	case *ast.CompositeLit:
		return ""
	case *ast.BinaryExpr:
		return phrase(e.X) + phrase(e.Y)
	case *ast.SelectorExpr:
		if known := wellKnown[name(e)]; known != "" {
			return known
		}
	case *ast.CallExpr:
		return typedCall(e)
	}
	return "…"
}

func typedCall(e *ast.CallExpr) string {
	fun := name(e.Fun)
	switch fun[strings.LastIndex(fun, ".")+1:] {
	case "T":
		format, args := phrase(e.Args[0]), e.Args[1:]
		return verb.ReplaceAllStringFunc(format, func(v string) string {
			if strings.HasSuffix(v, "%") {
				return "%"
			}
			if len(args) == 0 {
				return "…"
			}
			arg := args[0]
			args = args[1:]
			return phrase(arg)
		})
	case "Option":
		return "`" + dashed(e.Args[0]) + "`"
	case "Set":
		return "`" + dashed(e.Args[0]) + valueOf(e.Args[1]) + "`"
	case "Options":
		var names []string
		for _, a := range e.Args[1:] {
			names = append(names, "`"+dashed(a)+"`")
		}
		return strings.Join(names, " "+strings.TrimSpace(literal(e.Args[0]))+" ")
	case "To":
		words := []string{"ouro-timer"}
		for _, a := range e.Args {
			words = append(words, phrase(a))
		}
		return "`" + strings.Join(words, " ") + "`"
	case "Quote", "Quoted":
		return "\"…\""
	case "Texts":
		var parts []string
		for _, a := range e.Args[1:] {
			parts = append(parts, phrase(a))
		}
		return strings.Join(parts, literal(e.Args[0]))
	}
	s, ok := e.Fun.(*ast.SelectorExpr)
	if !ok {
		return "…"
	}
	call, ok := strings.CutSuffix(phrase(s.X), "`")
	if !ok || !strings.HasPrefix(call, "`ouro-timer") {
		return "…"
	}
	switch s.Sel.Name {
	case "With":
		return call + " " + dashed(e.Args[0]) + valueOf(e.Args[1]) + "`"
	case "Saying":
		for _, a := range e.Args {
			call += " " + phrase(a)
		}
	case "Running":
		call += " --"
		for _, a := range e.Args {
			call += " " + phrase(a)
		}
	}
	return call + "`"
}

// dashed is an option as it is typed: those of one letter have one dash, and the arguments that have a place of their own have none.
func dashed(e ast.Expr) string {
	option := strings.Trim(phrase(e), "`-")
	switch {
	case option == strings.ToUpper(option) && option != "…":
		return option
	case len(option) == 1:
		return "-" + option
	}
	return "--" + option
}

// valueOf is the value of an option as it is typed behind it.
func valueOf(e ast.Expr) string {
	if name(e) == "true" {
		return ""
	}
	return " " + phrase(e)
}

func literal(e ast.Expr) string {
	l, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	if l.Kind != token.STRING {
		return l.Value
	}
	text, err := strconv.Unquote(l.Value)
	if err != nil {
		return l.Value
	}
	return text
}
