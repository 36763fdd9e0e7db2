//go:build race

package runner_test

const raced = true
