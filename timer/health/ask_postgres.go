package health

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
)

const postgres = "PostgreSQL"

// askPostgres sends the startup message of protocol 3.0 and reads the answer. A server that demands
// a password, or does not let us in, is ready. Otherwise the session must begin, with the database
// that the URL names.
// https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-START-UP
func askPostgres(_ context.Context, conn net.Conn, t Target) error {
	user, db := cmp.Or(t.url.User.Username(), "postgres"), strings.TrimPrefix(t.url.Path, "/")
	named := db != ""
	body := binary.BigEndian.AppendUint32(nil, 3<<16)
	for _, s := range []string{"user", user, "database", cmp.Or(db, "postgres"), "application_name", userAgent, ""} {
		body = append(append(body, s...), 0)
	}
	if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(4+len(body))), body...)); err != nil {
		return err
	}
	r := replies(conn)
	for first := true; ; first = false {
		kind, body, err := postgresMessage(r, first)
		if err != nil {
			return err
		}
		switch {
		case kind == 'E':
			return judgePostgres(body, named)
		case kind == 'R' && len(body) < 4:
			return otherProtocol(postgres, "R"+string(body))
		case kind == 'R' && binary.BigEndian.Uint32(body) != 0: // it demands a login
			return nil
		case kind == 'Z':
			_, _ = conn.Write([]byte{'X', 0, 0, 0, 4}) // says goodbye
			return nil
		}
	}
}

// postgresMessage reads a message. The error of a server that cannot even start a process has no
// length.
func postgresMessage(r *bufio.Reader, first bool) (kind byte, body []byte, err error) {
	head, err := r.Peek(5)
	if first && len(head) > 0 && strings.IndexByte("RENv", head[0]) < 0 {
		return 0, nil, otherProtocol(postgres, beginning(r))
	}
	if err != nil {
		return 0, nil, err
	}
	size := int(int32(binary.BigEndian.Uint32(head[1:])))
	switch {
	case first && head[0] == 'E' && head[1] >= ' ':
		text, err := r.ReadString(0)
		if err != nil && err != io.EOF {
			return 0, nil, err
		}
		return 0, nil, notReady(strings.Trim(text[1:], "\x00\n"))
	case size < 4 || size > maxReply:
		return 0, nil, otherProtocol(postgres, beginning(r))
	}
	body = make([]byte, 1+size)
	_, err = io.ReadFull(r, body)
	return body[0], body[5:], err
}

// judgePostgres judges an error. Its code is an SQLSTATE, whose first two letters are the class.
func judgePostgres(body []byte, named bool) error {
	fields := map[byte]string{}
	for field := range strings.SplitSeq(string(body), "\x00") {
		if field != "" {
			fields[field[0]] = field[1:]
		}
	}
	code := fields['C']
	switch {
	case code == "":
		return otherProtocol(postgres, "E"+string(body))
	case strings.HasPrefix(code, "28"), code == "3D000" && !named:
		// this user or address is not let in; no database was asked for
		return nil
	}
	return notReady(fields['M'])
}
