//go:build !race

package clocktest

const raced = false
