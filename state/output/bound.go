package output

import "os"

// blockSize is what room is given back in.
const blockSize = 64 << 10

// Bound keeps the room that a growing output file takes small while somebody writes to its end: all
// but the first head and the last tail bytes are given back to the disk, and read as zeros from
// then on. Its length stays, so that neither the writer nor a reader loses its place; Trim takes
// the zeros out when the writer has ended. from is what Bound returned the last time, 0 at first. A
// system or a file system without this has whole files until Trim; the error says so.
func (p File) Bound(head, tail, from int64) (int64, error) {
	info, err := os.Lstat(string(p))
	if err != nil {
		return from, err
	}
	from = max(from, (head+blockSize-1)/blockSize*blockSize)
	to := (info.Size() - tail) / blockSize * blockSize
	if to-from < blockSize {
		return from, nil
	}
	if err := punch(string(p), from, to-from); err != nil {
		return from, err
	}
	return to, nil
}
