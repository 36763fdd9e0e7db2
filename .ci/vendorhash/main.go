// Vendorhash checks that flake.nix has the hash of the modules that nix fetches for it, which is
// that of what `go mod vendor` writes: go run ./.ci/vendorhash. With -w it writes the hash there.
// Nix is not needed.
package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

const flake = "flake.nix"

var named = regexp.MustCompile(`vendorHash = "(.*)";`)

func main() {
	write := flag.Bool("w", false, "write the hash into flake.nix")
	flag.Parse()
	if err := run(*write); err != nil {
		fmt.Fprintln(os.Stderr, "vendorhash:", err)
		os.Exit(1)
	}
}

func run(write bool) error {
	folder, err := os.MkdirTemp("", "vendorhash")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	vendor := filepath.Join(folder, "vendor")
	cmd := exec.Command("go", "mod", "vendor", "-o", vendor)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go mod vendor: %w", err)
	}
	hash := sha256.New()
	text(hash, "nix-archive-1")
	if err := node(hash, vendor); err != nil {
		return err
	}
	want := "sha256-" + base64.StdEncoding.EncodeToString(hash.Sum(nil))
	source, err := os.ReadFile(flake)
	if err != nil {
		return err
	}
	m := named.FindSubmatch(source)
	switch {
	case m == nil:
		return fmt.Errorf("%s has no vendorHash", flake)
	case string(m[1]) == want:
		fmt.Println(flake, "has the hash of what go.mod names:", want)
		return nil
	case write:
		return os.WriteFile(flake, named.ReplaceAll(source, []byte(`vendorHash = "`+want+`";`)), 0o644)
	}
	return fmt.Errorf("%s has the vendorHash %s, and it is %s: go run ./.ci/vendorhash -w", flake, m[1], want)
}

// node writes a file or a folder as an archive of nix contains it: only names, contents and whether
// a file can be executed, in the order of the names. See "The Purely Functional Software Deployment
// Model", figure 5.2.
func node(w io.Writer, path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	text(w, "(", "type")
	switch {
	case info.IsDir():
		text(w, "directory")
		entries, err := os.ReadDir(path)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			text(w, "entry", "(", "name", entry.Name(), "node")
			if err := node(w, filepath.Join(path, entry.Name())); err != nil {
				return err
			}
			text(w, ")")
		}
	case info.Mode().IsRegular():
		text(w, "regular")
		if info.Mode()&0o100 != 0 {
			text(w, "executable", "")
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text(w, "contents", string(content))
	default:
		return fmt.Errorf("%s is neither a file nor a folder", path)
	}
	text(w, ")")
	return nil
}

// text writes words. Each is its length, its bytes, and zeros up to a multiple of eight bytes.
func text(w io.Writer, words ...string) {
	for _, word := range words {
		binary.Write(w, binary.LittleEndian, uint64(len(word)))
		io.WriteString(w, word)
		w.Write(make([]byte, (8-len(word)%8)%8))
	}
}
