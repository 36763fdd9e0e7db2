// Package unit reads the unit files of systemd: their settings, drop-ins and templates
// (systemd.unit(5)), command lines (systemd.service(5)), what systemd puts in for % and $, and
// lengths of time (systemd.time(7)). It knows no task, starts nothing and asks no systemd.
package unit

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Setting is a line of a unit file.
type Setting struct {
	Path                 string
	Line                 int
	Section, Name, Value string // Value is empty where it takes back those before it
}

// Unit is a unit with its drop-ins.
type Unit struct {
	Name, Path string
	Settings   []Setting // in order, without those that were taken back
	Ignored    []Setting // lines that are none: systemd leaves them out
}

// ErrTemplate is the refusal of a template without an instance.
var ErrTemplate = errors.New("it is a template")

// Read reads a unit file. Its error says why the text is none.
func Read(text, path string) (list, ignored []Setting, err error) {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return nil, nil, fmt.Errorf("%s is not text", path)
	}
	section, begun, first := "", "", 0
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = strings.TrimSpace(line)
		if line != "" && strings.ContainsRune("#;", rune(line[0])) || line == "" && begun == "" {
			continue
		}
		if begun == "" {
			first = i + 1
		}
		if rest, more := strings.CutSuffix(line, `\`); more {
			begun += rest + " "
			continue
		}
		line, begun = begun+line, ""
		s := Setting{Path: path, Line: first, Section: section}
		name, value, assigned := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			section = line[1 : len(line)-1]
		case !assigned || section == "" || strings.TrimSpace(name) == "":
			s.Value = line
			ignored = append(ignored, s)
		default:
			s.Name, s.Value = strings.TrimSpace(name), strings.TrimSpace(value)
			list = append(list, s)
		}
	}
	if section == "" {
		return nil, nil, fmt.Errorf("%s has no section such as [Timer]", path)
	}
	return list, ignored, nil
}

// Merged are settings in order, where an empty value takes back those before it.
func Merged(list []Setting) (merged []Setting) {
	for _, s := range list {
		if s.Value == "" {
			merged = slices.DeleteFunc(merged, func(o Setting) bool { return o.Section == s.Section && o.Name == s.Name })
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}

// Last is the value that counts of a setting that may be there more than once.
func (u Unit) Last(section, name string) (value string) {
	for _, s := range u.Settings {
		if s.Section == section && s.Name == name {
			value = s.Value
		}
	}
	return value
}

// Has reports whether the unit has a setting.
func (u Unit) Has(section, name string) bool { return u.Last(section, name) != "" }

// Disk is where units are read from.
type Disk struct {
	Read func(path string) (string, error) // a file, whole
	Glob func(pattern string) []string     // in order
}

// Find reads a unit from the first of the folders that has it or, of an instance, its template; and
// its drop-ins, which may be in all of them.
func (d Disk) Find(name string, dirs []string) (u Unit, err error) {
	names := []string{name}
	if template := templateOf(name); template != name {
		names = append(names, template)
	}
	for _, n := range names {
		for _, dir := range dirs {
			path := filepath.Join(dir, n)
			if text, err := d.Read(path); !errors.Is(err, fs.ErrNotExist) {
				return d.with(name, path, text, err, names, dirs)
			}
		}
	}
	return u, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

// with is the unit of a text, with its drop-ins.
func (d Disk) with(name, path, text string, err error, names, dirs []string) (Unit, error) {
	u := Unit{Name: name, Path: path}
	if err != nil {
		return u, err
	}
	list, ignored, err := Read(text, path)
	if err != nil {
		return u, err
	}
	for _, drop := range d.drops(names, dirs) {
		text, err := d.Read(drop)
		if err != nil {
			return u, err
		}
		more, odd, err := Read(text, drop)
		if err != nil {
			return u, err
		}
		list, ignored = append(list, more...), append(ignored, odd...)
	}
	u.Settings, u.Ignored = Merged(list), ignored
	return u, nil
}

// drops are the drop-ins of a unit: those of its name before those of its template, of the
// beginnings of its name and of its type, and of equal names the one in the earlier folder. They
// count in the order of their names.
func (d Disk) drops(names, dirs []string) (paths []string) {
	folders := slices.Clone(names)
	kind := filepath.Ext(names[0])
	stem := strings.TrimSuffix(names[0], kind)
	for i := len(stem) - 1; i > 0; i-- {
		if stem[i] == '-' {
			folders = append(folders, stem[:i+1]+kind)
		}
	}
	folders = append(folders, strings.TrimPrefix(kind, "."))
	seen := map[string]bool{}
	for _, folder := range folders {
		for _, dir := range dirs {
			for _, path := range d.Glob(filepath.Join(dir, folder+".d", "*.conf")) {
				if base := filepath.Base(path); !seen[base] {
					seen[base] = true
					paths = append(paths, path)
				}
			}
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	return paths
}

// templateOf is the name of the template of an instance; of other units their own.
func templateOf(name string) string {
	kind := filepath.Ext(name)
	if prefix, instance, is := strings.Cut(strings.TrimSuffix(name, kind), "@"); is && instance != "" {
		return prefix + "@" + kind
	}
	return name
}
