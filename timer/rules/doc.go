// Package rules decides what is done about a task at an instant, what the end of a run is in the
// ledger, and who is told of it.
//
// Everything here is a function of its arguments alone: no clock, no file, no process.
// docs/semantics.md tells the rules to users, and the tables in the tests read like it.
package rules
