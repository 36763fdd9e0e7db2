package unit

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Manager is what is known of the systemd that would start a unit.
type Manager struct {
	Own             bool // of a user, and not of the system
	Home, User, UID string
	Runtime         string // of a user: XDG_RUNTIME_DIR
}

// Fill puts in what % stands for in a value of the unit that is called name. Its error names what
// only a systemd that runs can tell.
func (m Manager) Fill(text, name string) (string, error) {
	if !strings.Contains(text, "%") {
		return text, nil
	}
	kind := filepath.Ext(name)
	stem := strings.TrimSuffix(name, kind)
	prefix, instance, templated := strings.Cut(stem, "@")
	known := map[byte]string{
		'%': "%", 'n': name, 'N': stem, 'p': prefix, 'P': unescaped(prefix), 'j': prefix[strings.LastIndexByte(prefix, '-')+1:],
		'h': m.Home, 'u': m.User, 'U': m.UID, 't': "/run", 'S': "/var/lib", 'C': "/var/cache", 'L': "/var/log", 'E': "/etc", 'T': "/tmp", 'V': "/var/tmp",
	}
	known['J'] = unescaped(known['j'])
	known['i'], known['I'] = instance, unescaped(instance)
	known['f'] = "/" + unescaped(prefix)
	if templated {
		known['f'] = "/" + unescaped(instance)
	}
	if m.Own {
		known['t'], known['C'], known['E'] = m.Runtime, filepath.Join(m.Home, ".cache"), filepath.Join(m.Home, ".config")
		delete(known, 'S')
		delete(known, 'L')
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '%' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		c := text[i]
		value, is := known[c]
		switch {
		case templated && instance == "" && strings.IndexByte("iIf", c) >= 0:
			return "", fmt.Errorf("%%%c is the instance, and %s names none: %w", c, name, ErrTemplate)
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			if !is || value == "" && strings.IndexByte("huUt", c) >= 0 {
				return "", fmt.Errorf("%%%c is filled in by systemd", c)
			}
			b.WriteString(value)
		case c == '%':
			b.WriteByte('%')
		default:
			b.WriteByte('%')
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

// unescaped is a part of the name of a unit as it was before systemd-escape(1).
func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		var c byte
		switch {
		case text[i] == '-':
			b.WriteByte('/')
		case strings.HasPrefix(text[i:], `\x`) && len(text) >= i+4 && hex(text[i+2:i+4], &c):
			b.WriteByte(c)
			i += 3
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

func hex(text string, c *byte) bool {
	n, err := fmt.Sscanf(strings.ToLower(text), "%02x", c)
	return n == 1 && err == nil
}
