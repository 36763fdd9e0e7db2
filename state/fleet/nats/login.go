package nats

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Login proves who we are: a key that signs the challenge of a server, and perhaps the JWT of a
// user.
type Login struct {
	jwt string
	key ed25519.PrivateKey
}

// ErrLogin: a file has no key.
var ErrLogin = errors.New("has no key of a user of NATS")

// ReadLogin reads a file of credentials, or one with the seed of a key alone.
func ReadLogin(path string) (*Login, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	l := &Login{}
	inJWT := false
	for line := range strings.Lines(string(data)) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "---"):
			inJWT = strings.Contains(line, "BEGIN") && strings.Contains(line, "JWT")
		case inJWT && line != "":
			l.jwt += line
		case strings.HasPrefix(line, "SU") && l.key == nil:
			seed, ok := seedOf(line)
			if !ok {
				return nil, fmt.Errorf("%s %w", path, ErrLogin)
			}
			l.key = ed25519.NewKeyFromSeed(seed)
		}
	}
	if l.key == nil {
		return nil, fmt.Errorf("%s %w", path, ErrLogin)
	}
	return l, nil
}

// NewLogin creates a key, and writes its seed to a new file that nobody else may read.
func NewLogin(path string) (*Login, error) {
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // it never fails
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(spell(append([]byte{18<<3 | user>>5, (user & 31) << 3}, seed...)) + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return &Login{key: ed25519.NewKeyFromSeed(seed)}, nil
}

// letters is the base32 alphabet of RFC 4648, in which NATS writes keys. Package encoding/base32 is
// not used, because it costs time at each start of a program.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

// repack turns numbers of from bits each into numbers of to bits each.
func repack(data []byte, from, to uint) (out []byte) {
	bits, held := uint(0), 0
	for _, b := range data {
		held = (held<<from | int(b)) & 0xffff
		for bits += from; bits >= to; bits -= to {
			out = append(out, byte(held>>(bits-to))&(1<<to-1))
		}
	}
	if to < from && bits > 0 {
		out = append(out, byte(held<<(to-bits))&(1<<to-1))
	}
	return out
}

// seedOf reads a seed as NATS writes it: two bytes that say whose it is, the seed, and a checksum.
func seedOf(text string) ([]byte, bool) {
	var fives []byte
	for i := range len(text) {
		fives = append(fives, byte(strings.IndexByte(letters, text[i])))
	}
	raw := repack(fives, 5, 8)
	if strings.Trim(text, letters) != "" || len(raw) != 2+ed25519.SeedSize+2 {
		return nil, false
	}
	body := raw[:len(raw)-2]
	return body[2:], binary.LittleEndian.Uint16(raw[len(raw)-2:]) == checksum(body)
}

// checksum is CRC-16 as XMODEM has it.
func checksum(data []byte) (sum uint16) {
	for _, b := range data {
		sum ^= uint16(b) << 8
		for range 8 {
			if sum&0x8000 != 0 {
				sum = sum<<1 ^ 0x1021
			} else {
				sum <<= 1
			}
		}
	}
	return sum
}

// user is the first byte of the public keys of users.
const user = 20 << 3

// sign adds the proof of who we are to a hello.
func (l *Login) sign(nonce string, hello map[string]any) {
	hello["sig"] = base64.RawURLEncoding.EncodeToString(ed25519.Sign(l.key, []byte(nonce)))
	if l.jwt != "" {
		hello["jwt"] = l.jwt
		return
	}
	hello["nkey"] = l.Public()
}

// Public returns the public key, by which servers know us.
func (l *Login) Public() string {
	return spell(append([]byte{user}, l.key.Public().(ed25519.PublicKey)...))
}

// spell writes a key as NATS does, with its checksum.
func spell(key []byte) string {
	var name []byte
	for _, five := range repack(binary.LittleEndian.AppendUint16(key, checksum(key)), 8, 5) {
		name = append(name, letters[five])
	}
	return string(name)
}
