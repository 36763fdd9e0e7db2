package cmd

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// TestErrorCodes holds the list of error codes closed: no code is written as a text anywhere but in the list, those of times are in it.
func TestErrorCodes(t *testing.T) {
	seen := 0
	for name, file := range clitest.Sources(t, "*/*.go") {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key := clitest.Word(n.Key); key == "code" || key == "Code" {
					seen++
					refuseText(t, name, n.Value)
				}
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if s, ok := to.(*ast.SelectorExpr); ok && isCode(s) && len(n.Rhs) == len(n.Lhs) {
						refuseText(t, name, n.Rhs[i])
					}
				}
			case *ast.BinaryExpr:
				if s, ok := n.X.(*ast.SelectorExpr); ok && isCode(s) {
					refuseText(t, name, n.Y)
				}
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && clitest.Word(s.X) == "problem" && s.Sel.Name == "New" {
					seen++
					refuseText(t, name, n.Args[0])
				}
				if clitest.Called(n) == "PickFailed" {
					refuseText(t, name, n.Args[1])
				}
				if clitest.Called(n) == "Code" && name != "cli/exit.go" {
					t.Errorf("%s makes an error code of a text", name)
				}
			}
			return true
		})
	}
	if seen < 50 {
		t.Errorf("saw only %d errors", seen)
	}
	listed := problem.Code("").Values()
	for name, file := range clitest.Sources(t, "../timer/when/*.go", "../timer/when/*/*.go") {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if strings.HasPrefix(n.Names[0].Name, "Code") && !slices.Contains(listed, strings.Trim(clitest.Word(n.Values[0]), `"`)) {
					t.Errorf("%s: %s is not in the list", name, n.Names[0].Name)
				}
			case *ast.KeyValueExpr:
				if clitest.Word(n.Key) == "Code" {
					refuseText(t, name, n.Value)
				}
			}
			return true
		})
	}
}

func isCode(s *ast.SelectorExpr) bool { return s.Sel.Name == "code" || s.Sel.Name == "Code" }

func refuseText(t *testing.T, name string, e ast.Expr) {
	t.Helper()
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		t.Errorf("%s writes the error code %s as a text: use a constant of timer/problem", name, lit.Value)
	}
}

// TestCodesAreInDocs holds the tables of docs/json.md to the lists, and renews them when asked.
func TestCodesAreInDocs(t *testing.T) {
	const page, renew = "../docs/json.md", "OURO_UPDATE_SCHEMAS"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	codes, exits := "", ""
	for _, c := range problem.Codes {
		codes += fmt.Sprintf("| `%s` | %d | %s |\n", c.Code, c.Exit, c.Means)
	}
	for _, e := range cli.ExitCodes {
		exits += fmt.Sprintf("| %d | %s |\n", e.Code, e.Means)
	}
	kinds := ""
	for _, f := range option.Kinds {
		kinds += fmt.Sprintf("| `%s` | %s |\n", f.Kind, f.Means)
	}
	want := string(text)
	for head, rows := range map[string]string{"| code | exit code | meaning |\n|---|---|---|\n": codes, "| code | meaning |\n|---|---|\n": exits,
		"| format | what it is |\n|---|---|\n": kinds} {
		before, after, ok := strings.Cut(want, head)
		if !ok {
			t.Fatalf("%s has no table %q", page, head)
		}
		_, rest, _ := strings.Cut("\n"+after, "\n\n") // a table without a row, too
		want = before + head + rows + "\n" + rest
	}
	switch {
	case want == string(text):
	case os.Getenv(renew) == "":
		t.Errorf("the codes in %s are not those of the program: renew them by %s=1 go test ./cmd -run TestCodesAreInDocs", page, renew)
	default:
		if err := os.WriteFile(page, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
