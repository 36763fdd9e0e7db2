// Package rules decides what happens to a task at an instant, what the ledger says about the end of
// a run, and who is told.
//
// Every result depends only on the arguments: there is no clock, no file and no process.
// docs/semantics.md explains the rules to users, and the tables in the tests read like it.
package rules
