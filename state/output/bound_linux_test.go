package output

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestBound lets a file grow under Bound: it keeps its length, its beginning and its end, and takes little room.
func TestBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	chunk := bytes.Repeat([]byte("0123456789abcdef"), 64<<10/16)
	from := int64(0)
	for range 100 {
		for range 10 {
			if _, err := f.Write(chunk); err != nil {
				t.Fatal(err)
			}
		}
		if from, err = File(path).Bound(64<<10, 192<<10, from); errors.Is(err, unix.EOPNOTSUPP) {
			t.Skip("this file system gives nothing back")
		} else if err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(1000 * len(chunk)); info.Size() != want {
		t.Errorf("it is %d bytes long, and %d were written", info.Size(), want)
	}
	if room := info.Sys().(*syscall.Stat_t).Blocks * 512; room > 1<<20 {
		t.Errorf("it takes %d bytes of the disk", room)
	}
	out, err := File(path).Trim(t.Context(), 64<<10, 192<<10)
	if err != nil || !out.Truncated || out.Bytes != info.Size() {
		t.Fatalf("trimmed: %+v %v", out, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(text, chunk) || !bytes.HasSuffix(text, chunk) || bytes.IndexByte(text, 0) >= 0 {
		t.Error("its beginning or its end is lost, or zeros are left")
	}
}
