package cmd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readsText are the functions that look into a text, of package strings and of regular expressions.
var readsText = []string{
	"Contains", "ContainsAny", "ContainsRune", "Count", "Cut", "CutPrefix", "CutSuffix", "EqualFold", "Fields", "FieldsSeq", "HasPrefix", "HasSuffix",
	"Index", "IndexByte", "LastIndex", "Lines", "Replace", "ReplaceAll", "Split", "SplitN", "SplitSeq", "Trim", "TrimFunc", "TrimLeft", "TrimPrefix",
	"TrimRight", "TrimSpace", "TrimSuffix",
	"FindString", "FindStringIndex", "FindStringSubmatch", "FindAllString", "MatchString", "ReplaceAllString", "ReplaceAllStringFunc",
}

// foreign are the functions that look into an error's text all the same: it is that of another
// program or of a library without a type for it, or it is only put on one line. Each says whose.
var foreign = map[string]string{
	"cmd/client/json.go open":            "hujson",
	"cmd/mcp/message.go plainError":      "encoding/json, behind the JSON-RPC of the SDK",
	"cmd/transfer/systemd.go unreadable": "its own, of a file that is not there, less the words of the system",
	"notify/show.go show":                "beeep, which joins two errors in one text",
	"notify/smtp.go judgeSMTP":           "the replies of a server of mail",
	"state/codec/codec.go decodeAny":     "the TOML library",
	"state/codec/tree.go Tree":           "the TOML library",
	"state/store.go Error":               "its own, which has the path once",
	"timer/agent/process.go refused":     "an agent's, put on one line",
	"timer/health/ask_grpc.go notHTTP2":  "net/http, of HTTP/2",
	"timer/health/fault.go explainHTTP":  "net/http",
	"timer/health/fault.go explainTLS":   "crypto/tls",
	"timer/notifier/plan.go lastError":   "its own, of which only the bytes that are no text are replaced",
}

// TestNobodyReadsSentences: what went wrong is a value, and who decides by it looks at that, not
// into the sentence that it is told in.
func TestNobodyReadsSentences(t *testing.T) {
	seen := map[string]bool{}
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
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		place, _ := filepath.Rel("..", path)
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			name := filepath.ToSlash(place) + " " + fn.Name.Name
			for _, at := range sentencesRead(fn) {
				if seen[name] = true; foreign[name] == "" {
					t.Errorf("%s: %s looks into a sentence", files.Position(at), name)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range foreign {
		if !seen[name] {
			t.Errorf("%s looks into no sentence any more: take it off the list", name)
		}
	}
}

// sentencesRead is where a function looks into the text of an error, a message or a hint, or into a
// variable that has one.
func sentencesRead(fn *ast.FuncDecl) (places []token.Pos) {
	var held []string // variables
	sentence := func(e ast.Expr) (found bool) {
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				found = found || slices.Contains(held, n.Name)
			case *ast.SelectorExpr:
				if found = found || slices.Contains([]string{"Message", "Hint", "LastError"}, n.Sel.Name); n.Sel.Name == "Error" {
					_, pkg := n.X.(*ast.Ident)
					found = found || !pkg || n.X.(*ast.Ident).Name != "http"
				}
				return !found && n.Sel.Name != "Error"
			}
			return !found
		})
		return found
	}
	for range 2 { // what is held by a variable may be handed on
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
				for i := range a.Lhs {
					if v, ok := a.Lhs[i].(*ast.Ident); ok && v.Name != "_" && isText(a.Rhs[i]) && sentence(a.Rhs[i]) {
						held = append(held, v.Name)
					}
				}
			}
			return true
		})
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if f, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains(readsText, f.Sel.Name) && slices.ContainsFunc(call.Args, sentence) {
			places = append(places, call.Pos())
		}
		return true
	})
	return places
}

// isText reports whether an expression can be the text of an error itself, and not only something
// made with it.
func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr, *ast.Ident, *ast.BinaryExpr:
		return true
	case *ast.CallExpr:
		f, ok := e.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == "Error"
	}
	return false
}
