//go:build !unix

package lock

// noFollow has no equal here.
const noFollow = 0
