package guide

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/client"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

func writeFlag(usage string) option.Option {
	return option.Option{Name: "write", Kind: option.Flag, Help: usage}
}

// installShape is the answer of calls that change files of other programs.
var installShape = cli.Shape{Name: "install", Of: installJSON{},
	Means: "the files of programs that models work in, and how each changes"}

// installJSON is the answer of mcp install, mcp uninstall and guide --skill --write.
type installJSON struct {
	Now    time.Time     `json:"now"`
	Files  []installFile `json:"files"`
	DryRun bool          `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`

	failed []failedFile
	apply  problem.Text // the call that makes the changes; empty when they were made
}

// installFile is a file of a program in which models work.
type installFile struct {
	Program *string        `json:"program,omitempty" jsonschema:"whose file it is"`
	Path    string         `json:"path"`
	Change  *string        `json:"change,omitempty" enum:"add replace remove" jsonschema:"what there is to do; absent: nothing"`
	Changed bool           `json:"changed,omitempty" jsonschema:"that was done"`
	Entry   *string        `json:"entry,omitempty" jsonschema:"what is to stand in the file, as it has it"`
	Error   *cli.ErrorJSON `json:"error,omitempty"`
}

// failedFile is a file that could not be used.
type failedFile struct {
	about   string
	problem *problem.Problem
}

// Text says what was done to each file, or would be.
func (a installJSON) Text(o *cli.Out) {
	for _, f := range a.Files {
		path := cli.Visible(f.Path)
		if f.Program != nil {
			path = *f.Program + ": " + path
		}
		switch {
		case f.Error != nil:
		case f.Change == nil:
			o.LineUnlessQuiet("%s: nothing to do", path)
		case f.Changed && client.Effect(*f.Change) == client.Remove:
			o.LineUnlessQuiet("%s: %s", path, o.Verb("removed"))
		case f.Changed:
			o.LineUnlessQuiet("%s: %s", path, o.Verb("written"))
		default:
			o.LineUnlessQuiet("%s: %s", path, map[client.Effect]string{client.Add: "to be added",
				client.Replace: "to be brought up to date", client.Remove: "to be removed"}[client.Effect(*f.Change)])
		}
		if f.Entry != nil && f.Change != nil && !f.Changed {
			o.LineUnlessQuiet("\n  %s\n", strings.ReplaceAll(strings.ReplaceAll(*f.Entry, "\r", ""), "\n", "\n  "))
		}
	}
	for _, f := range a.failed {
		o.ShowProblem(f.about, f.problem)
	}
	if !a.apply.Empty() {
		o.Note("Nothing was changed. To make these changes: %s", o.Render(a.apply))
	}
}

// target is a file to change, and plan returns the change.
type target struct {
	program, path string
	plan          func() (client.Change, error)
}

// changeFiles shows the changes of files, or makes them with --write. call with --write makes them.
func changeFiles(s *cli.Call, targets []target, call problem.Call) error {
	write := s.Opt.Bool("write")
	answer := installJSON{Now: s.Stamp(), Files: []installFile{}, DryRun: s.DryRun}
	code, changes := cli.ExitOK, false
	for _, p := range targets {
		c, err := p.plan()
		makes := c.Effect != client.Nothing && (write || s.DryRun)
		if err == nil && makes && !s.DryRun {
			err = c.Do()
		}
		f := installFile{Program: cli.OrNull(p.program), Path: cmp.Or(c.Path, p.path)}
		switch {
		case err != nil:
			why := cli.Explain(err)
			if len(targets) == 1 {
				return why
			}
			about := ""
			if p.program != "" {
				about = p.program + ": "
			}
			f.Error, answer.failed = new(s.AsErrorJSON(why)), append(answer.failed, failedFile{about, why})
			if code == cli.ExitOK {
				code = why.ExitCode()
			}
		case c.Effect == client.Nothing:
		default:
			f.Change, f.Changed, f.Entry, changes = cli.OrNull(string(c.Effect)), makes, cli.OrNull(c.Entry), true
		}
		answer.Files = append(answer.Files, f)
	}
	if !write && !s.DryRun && changes {
		answer.apply = problem.T("%s", call.With("write", true))
	}
	s.Answer(answer)
	if code != cli.ExitOK {
		return cli.ExitCode(code)
	}
	return nil
}

// clientsOf returns the clients with these names. Without names it returns those that have a folder
// here.
func clientsOf(s *cli.Call, names []string) (list []client.Client, err error) {
	all := client.All(client.World{System: runtime.GOOS, Getenv: s.Getenv})
	if s.Getenv("HOME") == "" && runtime.GOOS != "windows" {
		return nil, problem.New(problem.Unusable,
			problem.T("HOME is not set, so the files of programs cannot be found"), problem.T("set HOME"))
	}
	if len(names) == 0 {
		if list = slices.DeleteFunc(all, func(c client.Client) bool { return !c.Used() }); len(list) == 0 {
			return nil, problem.Of(problem.T("none of the supported programs has a folder here"),
				problem.T("name one: %s", strings.Join(client.Names(), ", ")))
		}
		return list, nil
	}
	for _, name := range names {
		i := slices.IndexFunc(all, func(c client.Client) bool { return strings.EqualFold(c.Name, name) })
		if i < 0 {
			hint := problem.T("the supported programs are %s; docs/mcp.md has the entry for others",
				strings.Join(client.Names(), ", "))
			if near := problem.Nearest(name, client.Names()); near != "" {
				hint = problem.T("did you mean %s? %s", near, hint)
			}
			return nil, problem.Of(problem.T("%s is not the name of a supported program", cli.Quote(name)), hint)
		}
		if !slices.ContainsFunc(list, func(c client.Client) bool { return c.Name == all[i].Name }) {
			list = append(list, all[i])
		}
	}
	return list, nil
}

// runInstall carries out mcp install and mcp uninstall.
func runInstall(s *cli.Call) error {
	what, names := s.Args[0], s.Args[1:]
	switch {
	case what != "install" && what != "uninstall":
		return problem.Of(problem.T("mcp takes no argument %s", cli.Quote(what)),
			problem.T("%s, %s, or mcp alone, which is the server", problem.To("mcp", "install"),
				problem.To("mcp", "uninstall")))
	case s.Opt.Has("max"):
		return problem.Of(problem.T("%s is for the server, and not for %s", problem.Option("max"), what),
			problem.T("%s; the entry can give the server its bound", problem.To("mcp", s.Args...)))
	}
	list, err := clientsOf(s, names)
	if err != nil {
		return err
	}
	program := ""
	if what == "install" {
		if program, err = installPath(s); err != nil {
			return err
		}
	}
	var targets []target
	for _, c := range list {
		plan := c.Uninstall
		if what == "install" {
			plan = func() (client.Change, error) { return c.Install(program) }
		}
		targets = append(targets, target{c.Name, c.Config, plan})
	}
	return changeFiles(s, targets, problem.To("mcp", s.Args...))
}

// installPath is the path by which other programs call this one. It is the path of the name by
// which this program was called, because that stays valid when an update moves the program itself.
func installPath(s *cli.Call) (string, error) {
	path := cli.OwnName(s)
	if !strings.ContainsRune(path, filepath.Separator) {
		found, err := proc.LookPath(path, s.Getenv("PATH"), "")
		if err != nil {
			return "", cli.Failed("the path of this program is not known: "+err.Error(), "call it by its whole path")
		}
		path = found
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", cli.Failed("the path of this program is not known: "+err.Error(), "call it by its whole path")
	}
	if strings.HasPrefix(path, os.TempDir()+string(filepath.Separator)) {
		s.Warn("warning: this program is in a temporary folder (%s); move it to a permanent one first", cli.Visible(path))
	}
	return path, nil
}

// writeSkill carries out guide --skill --write. An argument is a program, or a path.
func writeSkill(s *cli.Call, text string) error {
	var targets []target
	add := func(program, path string) {
		targets = append(targets, target{program, path, func() (client.Change, error) { return client.Skill(path, text) }})
	}
	var names []string
	for _, arg := range s.Args {
		if strings.ContainsRune(arg, filepath.Separator) || strings.HasPrefix(arg, ".") {
			add("", arg)
		} else {
			names = append(names, arg)
		}
	}
	if len(names) > 0 || len(s.Args) == 0 {
		list, err := clientsOf(s, names)
		if err != nil {
			return err
		}
		for _, c := range list {
			add(c.Name, c.Skill)
		}
	}
	return changeFiles(s, targets, problem.To("guide", s.Args...).With("skill", true))
}
