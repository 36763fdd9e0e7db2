// Package fusetest is a file system that answers only when it is told to, for tests of what happens
// when one does not.
package fusetest
