package nats

import (
	"crypto/ed25519"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// TestLogin: a seed is read as NATS writes it, and what it signs is known by the public key that is named.
func TestLogin(t *testing.T) {
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = byte(7*i + 200)
	}
	raw := append([]byte{18<<3 | user>>5, (user & 31) << 3}, seed...)
	text := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(binary.LittleEndian.AppendUint16(raw, checksum(raw)))
	path := filepath.Join(t.TempDir(), "user.creds")
	write := func(data string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text + "\n")
	l, err := ReadLogin(path)
	if err != nil {
		t.Fatal(err)
	}
	hello := map[string]any{}
	l.sign("nonce", hello)
	name, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(hello["nkey"].(string))
	if err != nil || len(name) != 35 || hello["nkey"].(string)[0] != 'U' || binary.LittleEndian.Uint16(name[33:]) != checksum(name[:33]) {
		t.Fatalf("the public key is %q, %v", hello["nkey"], err)
	}
	sig, err := base64.RawURLEncoding.DecodeString(hello["sig"].(string))
	if err != nil || !ed25519.Verify(ed25519.PublicKey(name[1:33]), []byte("nonce"), sig) {
		t.Errorf("the signature is %q, %v", hello["sig"], err)
	}
	write("-----BEGIN NATS USER JWT-----\neyJ0.\nabc\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n" + text + "\n------END USER NKEY SEED------\n")
	if l, err = ReadLogin(path); err != nil || l.jwt != "eyJ0.abc" {
		t.Errorf("credentials are read as %+v, %v", l, err)
	}
	for _, bad := range []string{"", "SUAB", text[:len(text)-1] + "A", "S" + text} {
		write(bad)
		if _, err := ReadLogin(path); err == nil {
			t.Errorf("%q is taken for a key", bad)
		}
	}
}

// TestNewLogin: a key that was made is read again, and nothing that is there is written over.
func TestNewLogin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	made, err := NewLogin(path)
	if err != nil {
		t.Fatal(err)
	}
	if read, err := ReadLogin(path); err != nil || read.Public() != made.Public() {
		t.Errorf("%v, %v", read, err)
	}
	if _, err := NewLogin(path); err == nil {
		t.Error("it was written over")
	}
}
