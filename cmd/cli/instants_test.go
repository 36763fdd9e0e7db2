package cli

import (
	"testing"
	"time"
)

type row struct {
	At   time.Time  `json:"at"`
	Then *time.Time `json:"then,omitempty"`
	Next []row      `json:"next,omitempty"`
}

// TestInstantsAreToldToTheMillisecond wherever they stand, and stay as they are for the program. A
// nil list is an empty one.
func TestInstantsAreToldToTheMillisecond(t *testing.T) {
	fine := time.Date(2026, 11, 23, 10, 0, 0, 123999999, time.UTC)
	whole := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	r := row{At: fine, Then: &fine, Next: []row{{At: whole, Then: &whole}, {At: fine}}}
	got := string(Encode(struct {
		row
		*Out     `json:"-"`
		Any      any               `json:"any"`
		None     *time.Time        `json:"none"`
		Words    map[string]string `json:"words"`
		unshown  time.Time
		Pointers []*time.Time `json:"pointers"`
		List     []string     `json:"list"`
		Rows     []row        `json:"rows"`
		Rare     []string     `json:"rare,omitempty"`
		Absent   []row        `json:"absent,omitzero"`
	}{row: r, Any: r.Next[1], unshown: fine, Pointers: []*time.Time{&fine, nil}}))
	const cut = `"2026-11-23T10:00:00.123Z"`
	const want = `{"at":` + cut + `,"then":` + cut + `,"next":[{"at":"2026-11-23T10:00:00Z","then":"2026-11-23T10:00:00Z"},{"at":` + cut + `}],` +
		`"any":{"at":` + cut + `},"none":null,"words":null,"pointers":[` + cut + `,null],"list":[],"rows":[]}` + "\n"
	if got != want {
		t.Errorf("it is %s, not %s", got, want)
	}
	if fine.Nanosecond() != 123999999 || !r.Next[1].At.Equal(fine) || *r.Then != fine {
		t.Errorf("what was told has changed: %+v", r)
	}
}
