// Package fusetest is a file system for tests that answers only after it is told to. With it, tests
// see what happens when a file system does not answer.
package fusetest
