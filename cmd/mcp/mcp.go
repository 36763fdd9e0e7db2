// Package mcp serves the commands of the command line to programs that models work in, by the Model Context Protocol on two streams. A tool
// is a thin translation: arguments into the words of a command, the JSON that the command answers with into a result. It knows neither
// tasks nor times, starts no process, and writes nothing but the protocol to the stream of its answers.
package mcp
