package plain

// Distance is the number of letters to insert, delete, change or swap to make b of a. It is most+1
// when that is more than most, or when one of them has more than 64 letters.
func Distance(a, b string, most int) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 64 || len(y) > 64 || len(x)-len(y) > most || len(y)-len(x) > most {
		return most + 1
	}
	// Of the table of distances, the row of a letter of a, and the two before it.
	var table [3][65]int
	row, last, before := &table[0], &table[1], &table[2]
	for j := range len(y) + 1 {
		row[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row, last, before = before, row, last
		row[0] = i
		least := i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			d := min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j], least = d, min(least, d)
		}
		if least > most {
			return most + 1
		}
	}
	return min(row[len(y)], most+1)
}
