// Inspect opens the files of a release like a program that installs them, and compares them with
// each other: go run ./.ci/inspect DIR
//
// It checks that checksums.txt has each published file, that an archive has the program of the
// system in its name, built without paths, that the list of modules of a program has the modules in
// it, that the manifest of Scoop has archives of this release, with their hashes and a program in
// them, and that the hashes in an apk package are those of its files.
package main

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "inspect:", err)
		os.Exit(1)
	}
}

// release is the release that is inspected.
type release struct {
	folder string
	sums   map[string]string // of checksums.txt
	// the programs in an archive, by the archive's name and by their own
	programs map[string]map[string][]byte
	// of an archive's program, by what the archive is named after: linux_amd64
	infos map[string]*buildinfo.BuildInfo
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: go run ./.ci/inspect DIR")
	}
	r := &release{folder: args[0], programs: map[string]map[string][]byte{}, infos: map[string]*buildinfo.BuildInfo{}}
	for _, look := range []func() error{r.checksums, r.archives, r.modules, r.scoop, r.apk} {
		if err := look(); err != nil {
			return err
		}
	}
	return nil
}

// files returns the names of the files that match. It is an error if there are none.
func (r *release) files(patterns ...string) ([]string, error) {
	var names []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(r.folder, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			names = append(names, filepath.Base(path))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no %s", r.folder, strings.Join(patterns, " or "))
	}
	return names, nil
}

func (r *release) read(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(r.folder, name))
}

func (r *release) checksums() error {
	text, err := r.read("checksums.txt")
	if err != nil {
		return err
	}
	r.sums = map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		content, err := r.read(name)
		if err != nil {
			return err
		}
		if got := hash(content); got != sum {
			return fmt.Errorf("checksums.txt has %s for %s, which has %s", sum, name, got)
		}
		r.sums[name] = sum
	}
	published, err := r.files("*.tar.gz", "*.zip", "*.deb", "*.rpm", "*.apk", "*.pkg.tar.zst", "*.cdx.json")
	for _, name := range published {
		if r.sums[name] == "" {
			return fmt.Errorf("checksums.txt does not have %s", name)
		}
	}
	fmt.Println(len(published), "files have the checksums that are published")
	return err
}

func (r *release) archives() error {
	names, err := r.files("*.tar.gz", "*.zip")
	for _, name := range names {
		content, err := r.read(name)
		if err != nil {
			return err
		}
		open := tarball
		if strings.HasSuffix(name, ".zip") {
			open = zipped
		}
		members, err := open(content)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		stem := strings.TrimSuffix(strings.TrimSuffix(name, ".tar.gz"), ".zip")
		system := strings.Join(strings.Split(stem, "_")[2:], "_")
		r.programs[name] = map[string][]byte{}
		for path, member := range members {
			if base := strings.TrimSuffix(filepath.Base(path), ".exe"); base != "ouro-timer" {
				continue
			}
			r.programs[name][path] = member
			info, err := buildinfo.Read(bytes.NewReader(member))
			if err != nil {
				return fmt.Errorf("%s: %s: %w", name, path, err)
			}
			if got := setting(info, "GOOS") + "_" + setting(info, "GOARCH"); got != system || setting(info, "-trimpath") != "true" {
				return fmt.Errorf("%s has a program for %s, with -trimpath=%s", name, got, setting(info, "-trimpath"))
			}
			r.infos[system] = info
		}
		if len(r.programs[name]) != 1 {
			return fmt.Errorf("%s has %d programs", name, len(r.programs[name]))
		}
	}
	fmt.Println(len(names), "archives have the program of the system that they are named after")
	return err
}

// modules compares the list of a program's modules with those that the linker wrote into the
// program.
func (r *release) modules() error {
	names, err := r.files("*.cdx.json")
	for _, name := range names {
		text, err := r.read(name)
		if err != nil {
			return err
		}
		var list struct {
			Format     string `json:"bomFormat"`
			Components []struct{ Name, Version string }
		}
		if err := json.Unmarshal(text, &list); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		system := strings.Join(strings.Split(strings.TrimSuffix(name, ".cdx.json"), "_")[2:], "_")
		info := r.infos[system]
		if list.Format != "CycloneDX" || info == nil {
			return fmt.Errorf("%s is %q, and there is an archive for %s: %t", name, list.Format, system, info != nil)
		}
		listed := map[string]string{}
		for _, c := range list.Components {
			listed[c.Name] = c.Version
		}
		for _, m := range info.Deps {
			if listed[m.Path] != m.Version {
				return fmt.Errorf("%s has %q of %s, and the program %q", name, listed[m.Path], m.Path, m.Version)
			}
		}
	}
	fmt.Println(len(names), "lists of modules are those of the programs")
	return err
}

// scoop checks the manifest by the schema of Scoop: an architecture has url, hash and bin. There is
// no manifest if the release has no archives for Windows.
func (r *release) scoop() error {
	text, err := r.read("scoop/ouro-timer.json")
	if archives, _ := r.files("*windows*.zip"); os.IsNotExist(err) && archives == nil {
		fmt.Println("no manifest of Scoop: nothing was built for Windows")
		return nil
	}
	if err != nil {
		return err
	}
	var manifest struct {
		Version, Homepage, License, Description string
		Architecture                            map[string]struct {
			URL, Hash string
			Bin       []string
		}
	}
	known := json.NewDecoder(bytes.NewReader(text))
	known.DisallowUnknownFields()
	if err := known.Decode(&manifest); err != nil {
		return fmt.Errorf("the manifest of Scoop: %w", err)
	}
	if manifest.Version == "" || manifest.Homepage == "" || manifest.License == "" || manifest.Description == "" {
		return fmt.Errorf("the manifest of Scoop lacks one of version, homepage, license and description: %s", text)
	}
	for scoops, ours := range map[string]string{"64bit": "amd64", "arm64": "arm64"} {
		entry := manifest.Architecture[scoops]
		archive := "ouro-timer_" + manifest.Version + "_windows_" + ours + ".zip"
		if want := manifest.Homepage + "/releases/download/v" + manifest.Version + "/" + archive; entry.URL != want {
			return fmt.Errorf("the manifest of Scoop has %q, and not %q", entry.URL, want)
		}
		if entry.Hash != r.sums[archive] {
			return fmt.Errorf("the manifest of Scoop has the hash %q of %s, and not %q", entry.Hash, archive, r.sums[archive])
		}
		if len(entry.Bin) != 1 || r.programs[archive][entry.Bin[0]] == nil {
			return fmt.Errorf("%s has no %q, which the manifest of Scoop starts", archive, entry.Bin)
		}
	}
	fmt.Println("the manifest of Scoop names archives that are there, and the program in them")
	return nil
}

// apk checks packages as apk(5) describes them: they are members of gzip, and the last two are the
// control part and the data part. The control part has the hash of the packed data part, and each
// file has its own hash.
func (r *release) apk() error {
	names, err := r.files("*.apk")
	for _, name := range names {
		content, err := r.read(name)
		if err != nil {
			return err
		}
		control, data, err := parts(content)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		facts, err := pkginfo(control)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, fact := range []string{"pkgname", "pkgver", "arch", "license", "url", "pkgdesc", "size"} {
			if facts[fact] == "" {
				return fmt.Errorf("%s: .PKGINFO has no %s", name, fact)
			}
		}
		if want := facts["pkgname"] + "_" + facts["pkgver"] + "_" + facts["arch"] + ".apk"; want != name {
			return fmt.Errorf("%s is %s by its .PKGINFO", name, want)
		}
		if got := hash(data); facts["datahash"] != got {
			return fmt.Errorf("%s has the datahash %s, and its data %s", name, facts["datahash"], got)
		}
		count, err := hashed(data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Println(name, "is what it says of itself, and so are its", count, "files")
	}
	return err
}

// parts returns the packed control part and data part of an apk package.
func parts(content []byte) (control, data []byte, err error) {
	from := bytes.NewReader(content)
	var ends []int
	z, err := gzip.NewReader(from)
	for err == nil {
		z.Multistream(false)
		if _, err := io.Copy(io.Discard, z); err != nil {
			return nil, nil, err
		}
		ends = append(ends, len(content)-from.Len())
		err = z.Reset(from)
	}
	if err != io.EOF {
		return nil, nil, err
	}
	if len(ends) != 2 {
		return nil, nil, fmt.Errorf("it has %d parts, and a package that is not signed has 2", len(ends))
	}
	return content[:ends[0]], content[ends[0]:], nil
}

func pkginfo(control []byte) (map[string]string, error) {
	members, err := tarball(control)
	if err != nil && err != io.ErrUnexpectedEOF { // the control part lacks the end of a tar file
		return nil, err
	}
	facts := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(members[".PKGINFO"])); lines.Scan(); {
		if key, value, found := strings.Cut(lines.Text(), " = "); found {
			facts[key] = value
		}
	}
	for _, script := range []string{".post-install", ".pre-deinstall"} {
		if len(members[script]) == 0 {
			return nil, fmt.Errorf("it has no %s", script)
		}
	}
	return facts, nil
}

// hashed counts the files of a data part, and checks the hash of each.
func hashed(data []byte) (int, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	count := 0
	for members := tar.NewReader(z); ; {
		h, err := members.Next()
		if err == io.EOF {
			return count, nil
		}
		if err != nil {
			return 0, err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		sum := sha1.New()
		if _, err := io.Copy(sum, members); err != nil {
			return 0, err
		}
		if got := hex.EncodeToString(sum.Sum(nil)); h.PAXRecords["APK-TOOLS.checksum.SHA1"] != got {
			return 0, fmt.Errorf("%s has the hash %q, and not %s", h.Name, h.PAXRecords["APK-TOOLS.checksum.SHA1"], got)
		}
		count++
	}
}

func tarball(content []byte) (map[string][]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	found := map[string][]byte{}
	for members := tar.NewReader(z); ; {
		h, err := members.Next()
		if err == io.EOF {
			return found, nil
		}
		if err != nil {
			return found, err
		}
		if found[h.Name], err = io.ReadAll(members); err != nil {
			return found, err
		}
	}
}

func zipped(content []byte) (map[string][]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	found := map[string][]byte{}
	for _, f := range z.File {
		member, err := f.Open()
		if err != nil {
			return nil, err
		}
		if found[f.Name], err = io.ReadAll(member); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func setting(info *buildinfo.BuildInfo, key string) string {
	if i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key }); i >= 0 {
		return info.Settings[i].Value
	}
	return ""
}

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
