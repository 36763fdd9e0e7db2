package cmd

import (
	"bytes"
	"go/build"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// untestedLines is how many lines at the most are compiled for systems where nothing is run. What is written for them stays small.
var untestedLines = map[string]int{"darwin": 386, "freebsd": 340, "windows": 800}

// TestUntestedCodeIsListed requires that docs/platforms.md names the packages with code for the systems where nothing is run, and that there
// is no more of it.
func TestUntestedCodeIsListed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/platforms.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for system := range untestedLines {
		lines := 0
		err := filepath.WalkDir("..", func(path string, entry os.DirEntry, err error) error {
			name := entry.Name()
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || !builtAlone(t, path, system) {
				return err
			}
			text, err := os.ReadFile(path)
			lines += bytes.Count(text, []byte("\n"))
			if dir := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), "../")); !slices.Contains(want[system], dir) {
				want[system] = append(want[system], dir)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if most := untestedLines[system]; lines > most {
			t.Errorf("%d lines are compiled for %s alone, where nothing is run, and there were at most %d", lines, system, most)
		}
		t.Logf("%s: %d lines in %v", system, lines, want[system])
	}
	row := regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\| (.*) \\|$")
	got := map[string][]string{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		for system, name := range map[string]string{"darwin": "macOS", "freebsd": "FreeBSD", "windows": "Windows"} {
			if strings.Contains(m[2], name) {
				got[system] = append(got[system], m[1])
			}
		}
	}
	for system := range untestedLines {
		slices.Sort(want[system])
		if slices.Sort(got[system]); !slices.Equal(got[system], want[system]) {
			t.Errorf("docs/platforms.md has %q for %s, and its own code is in %q", got[system], system, want[system])
		}
	}
}

// builtAlone reports whether a file is built for a system, and not for Linux.
func builtAlone(t *testing.T, path, system string) bool {
	t.Helper()
	matches := func(system string) bool {
		context := build.Default
		context.GOOS, context.GOARCH, context.CgoEnabled = system, "amd64", false
		ok, err := context.MatchFile(filepath.Dir(path), filepath.Base(path))
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	return matches(system) && !matches("linux")
}

// TestEverySystemIsSaid requires that docs/platforms.md says of each system and processor of a release how far it is tested.
func TestEverySystemIsSaid(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/platforms.md")
	if err != nil {
		t.Fatal(err)
	}
	release, err := os.ReadFile("../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"linux": "Linux", "darwin": "macOS", "freebsd": "FreeBSD", "windows": "Windows"}
	seen := 0
	for _, m := range regexp.MustCompile(`goos: \[(.*)\]`).FindAllStringSubmatch(string(release), -1) {
		for system := range strings.SplitSeq(m[1], ", ") {
			seen++
			if row := regexp.MustCompile(`(?m)^\| ` + names[system] + `, .* \| \S`); names[system] == "" || !row.Match(page) {
				t.Errorf("docs/platforms.md has no row for %s", system)
			}
		}
	}
	if seen != 4 {
		t.Errorf("there are releases for %d systems", seen)
	}
}
