package state

import (
	"cmp"
	"math/bits"
	"strings"
)

// alphabet is what IDs are written in: lower-case letters and digits without those that look alike (i l 1, o 0). Its
// length is a prime, which is what lets one check symbol notice every single wrong symbol and every swap of two.
const alphabet = "abcdefghjkmnpqrstuvwxyz23456789"

const (
	radix      = uint64(len(alphabet))
	shortestID = 4  // three symbols and the check symbol: 29,791 tasks
	longestID  = 12 // more tasks than anybody will make
	checkSum   = 13 // what the weighted sum of an ID comes to; not 0, so that aaaa is no ID
)

// ID is the ID of the n-th task of a store, counted from 0: n in base 31, scrambled so that neighbours look unlike, and a
// check symbol. The first 29,791 IDs have four symbols, the next 923,521 five, and so on. No two numbers have the same.
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

// IDNumber undoes ID. It is false for what is no ID.
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

// IDKey is a number that no other ID has: larger than IDNumber's, and found out in a tenth of the time.
func IDKey(id string) (key uint64) {
	for i := range len(id) - 1 { // the check symbol follows from the others
		key = key<<5 | uint64(symbols[id[i]])
	}
	return key
}

// CompareIDs compares IDs by when they were given out, the first comes first. What is no ID comes before all.
func CompareIDs(a, b string) int {
	if a == b {
		return 0
	}
	m, _ := IDNumber(a)
	n, _ := IDNumber(b)
	return cmp.Or(cmp.Compare(m, n), strings.Compare(a, b))
}

// WholeID reports whether text is an ID, its check symbol included: no wrong symbol in it, no two swapped.
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

// MatchID reports whether typed means the task with the ID id: it is the ID, or the beginning of it. What is whole by its
// check symbol is never the beginning of another ID: the task that was meant is no more.
func MatchID(id, typed string) bool {
	return id == typed || typed != "" && !WholeID(typed) && strings.HasPrefix(id, typed)
}

// digitsOf are an ID's symbols as numbers; false for what is no ID.
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

// weigh sums the symbols, each with a weight of its own that is not 0 modulo 31; the check symbol's is 1. One wrong
// symbol changes the sum by weight × difference, two swapped ones by difference of weights × difference: neither is 0
// modulo a prime.
func weigh(digits []uint64) (sum uint64) {
	for i, d := range digits {
		sum += uint64(len(digits)-i) * d
	}
	return sum % radix
}

const scrambleRounds = 4

// stir is added to a symbol to scramble it; since it depends on another symbol only, the step can be undone. It is
// not linear, so that equal steps of the counter do not show as equal steps of a symbol.
func stir(d uint64, step int) uint64 {
	v := d + uint64(step)*5 + 3
	return (v*v*7 + bits.RotateLeft64(v, 2)*3 + 11) % radix
}

// symbols is a symbol's place in the alphabet plus one; 0 for what is no symbol.
var symbols = func() (t [256]uint8) {
	for i := range len(alphabet) {
		t[alphabet[i]] = uint8(i + 1)
	}
	return t
}()
