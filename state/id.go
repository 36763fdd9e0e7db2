package state

import (
	"cmp"
	"math/bits"
	"strings"
)

// alphabet has the symbols of IDs: lower-case letters and digits without those that look alike (i l
// 1, o 0). Their number is a prime. Therefore one check symbol detects every single wrong symbol
// and every swap of two.
const alphabet = "abcdefghjkmnpqrstuvwxyz23456789"

const (
	radix      = uint64(len(alphabet))
	shortestID = 4  // three symbols and the check symbol: 29,791 tasks
	longestID  = 12 // more tasks than anybody will make
	checkSum   = 13 // the weighted sum of every ID; not 0, so that aaaa is not an ID
)

// ID is the ID of the n-th task of a store, counted from 0: n in base 31, scrambled so that
// neighbours look different, and a check symbol. The first 29,791 IDs have four symbols, the next
// 923,521 have five, and so on. No two numbers have the same ID.
func ID(n uint64) string {
	size := shortestID - 1
	room := radix * radix * radix
	for n >= room {
		n -= room
		size++
		room *= radix
	}
	digits := make([]uint64, size)
	for i := range digits {
		digits[i] = n % radix
		n /= radix
	}
	for step := range scrambleRounds * size {
		i := step % size
		digits[i] = (digits[i] + stir(digits[(i+1)%size], step)) % radix
	}
	digits = append(digits, 0)
	digits[size] = (checkSum + radix - weigh(digits)) % radix
	text := make([]byte, len(digits))
	for i, d := range digits {
		text[i] = alphabet[d]
	}
	return string(text)
}

// IDNumber is the inverse of ID. It is false if the text is not an ID.
func IDNumber(id string) (uint64, bool) {
	digits, ok := digitsOf(id)
	if !ok {
		return 0, false
	}
	size := len(digits) - 1
	digits = digits[:size]
	for step := scrambleRounds*size - 1; step >= 0; step-- {
		i := step % size
		digits[i] = (digits[i] + radix - stir(digits[(i+1)%size], step)) % radix
	}
	var n, before uint64
	for i := size - 1; i >= 0; i-- {
		n = n*radix + digits[i]
	}
	for i, room := shortestID-1, radix*radix*radix; i < size; i, room = i+1, room*radix {
		before += room
	}
	return before + n, true
}

// IDKey returns a number that no other ID has. It is larger than IDNumber's and takes a tenth of
// the time.
func IDKey(id string) (key uint64) {
	for i := range len(id) - 1 { // the check symbol follows from the others
		key = key<<5 | uint64(symbols[id[i]])
	}
	return key
}

// CompareIDs orders IDs by when they were given out, the first one first. Text that is not an ID
// comes before all IDs.
func CompareIDs(a, b string) int {
	if a == b {
		return 0
	}
	m, _ := IDNumber(a)
	n, _ := IDNumber(b)
	return cmp.Or(cmp.Compare(m, n), strings.Compare(a, b))
}

// WholeID reports whether text is an ID with a correct check symbol, so that no symbol is wrong and
// no two are swapped.
func WholeID(text string) bool {
	if len(text) < shortestID || len(text) > longestID {
		return false
	}
	sum := uint64(0)
	for i := range len(text) {
		d := symbols[text[i]]
		if d == 0 {
			return false
		}
		sum += uint64(len(text)-i) * uint64(d-1)
	}
	return sum%radix == checkSum
}

// MatchID reports whether typed means the task with the ID id: it is the ID or the beginning of it.
// A whole ID is never the beginning of another one; it then names a task that no longer exists.
func MatchID(id, typed string) bool {
	return id == typed || typed != "" && !WholeID(typed) && strings.HasPrefix(id, typed)
}

// BeginsID reports whether text can be the beginning of an ID.
func BeginsID(text string) bool {
	return text != "" && len(text) <= longestID && strings.Trim(text, alphabet) == ""
}

// digitsOf returns an ID's symbols as numbers. It is false if the text is not an ID.
func digitsOf(id string) ([]uint64, bool) {
	if !WholeID(id) {
		return nil, false
	}
	digits := make([]uint64, len(id))
	for i := range len(id) {
		digits[i] = uint64(symbols[id[i]] - 1)
	}
	return digits, true
}

// weigh sums the symbols, each with a weight of its own that is not 0 modulo 31. The weight of the
// check symbol is 1. One wrong symbol changes the sum by weight × difference, two swapped ones
// change it by difference of weights × difference. Neither is 0 modulo a prime.
func weigh(digits []uint64) (sum uint64) {
	for i, d := range digits {
		sum += uint64(len(digits)-i) * d
	}
	return sum % radix
}

const scrambleRounds = 4

// stir is added to a symbol to scramble it. It depends on another symbol only, so the step can be
// undone. It is not linear, so that equal steps of the counter do not look like equal steps of a
// symbol.
func stir(d uint64, step int) uint64 {
	v := d + uint64(step)*5 + 3
	return (v*v*7 + bits.RotateLeft64(v, 2)*3 + 11) % radix
}

// symbols maps a symbol to its place in the alphabet plus one, and other bytes to 0.
var symbols = func() (t [256]uint8) {
	for i := range len(alphabet) {
		t[alphabet[i]] = uint8(i + 1)
	}
	return t
}()
