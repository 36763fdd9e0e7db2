package health

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"slices"
)

const mysql = "MySQL"

// mysqlBarred are the errors of servers that are ready but do not let us in: no such user or
// password, no such way to log in, an account that is locked, a connection that must be encrypted.
var mysqlBarred = []uint16{1044, 1045, 1251, 1524, 1698, 1820, 1862, 3118, 3159, 4151}

// askMySQL reads the greeting of MySQL and MariaDB, or the error in its place. It answers the
// greeting as a user without a password. A server that gets no answer counts that against our
// address, and blocks it in the end.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase.html
func askMySQL(_ context.Context, conn net.Conn, t Target) error {
	r := replies(conn)
	number, greeting, err := mysqlPacket(r)
	if err != nil {
		return err
	}
	switch {
	case len(greeting) > 0 && greeting[0] == 0xff:
		return judgeMySQL(greeting)
	case number != 0 || len(greeting) < 30 || greeting[0] != 10 || bytes.IndexByte(greeting[1:], 0) < 0:
		return otherProtocol(mysql, string(greeting))
	}
	user := "ouro-timer"
	if name := t.url.User.Username(); name != "" {
		user = name
	}
	const protocol41, secure, plugin = 1 << 9, 1 << 15, 1 << 19
	answer := binary.LittleEndian.AppendUint32(nil, protocol41|secure|plugin)
	answer = binary.LittleEndian.AppendUint32(answer, maxReply)
	answer = append(append(answer, 45), make([]byte, 23)...) // utf8mb4
	answer = append(append(answer, user...), 0, 0)           // and no password
	answer = append(append(answer, "mysql_native_password"...), 0)
	for range 4 {
		if err := mysqlSend(conn, number+1, answer); err != nil {
			return err
		}
		var said []byte
		if number, said, err = mysqlPacket(r); err != nil {
			return err
		}
		switch {
		case len(said) > 0 && said[0] == 0: // it has let us in
			_ = mysqlSend(conn, 0, []byte{1}) // says goodbye
			return nil
		case len(said) > 0 && said[0] == 0xff:
			return judgeMySQL(said)
		case len(said) > 0 && (said[0] == 0xfe || said[0] == 1): // it demands another login
			answer = nil
		default:
			return otherProtocol(mysql, string(said))
		}
	}
	return nil // it goes on with the login
}

// judgeMySQL judges an error packet. Before the greeting it has no SQLSTATE.
func judgeMySQL(packet []byte) error {
	if len(packet) < 4 {
		return otherProtocol(mysql, string(packet))
	}
	code, words := binary.LittleEndian.Uint16(packet[1:]), packet[3:]
	if words[0] == '#' && len(words) >= 6 {
		words = words[6:]
	}
	if slices.Contains(mysqlBarred, code) {
		return nil
	}
	return notReady(string(words))
}

func mysqlPacket(r *bufio.Reader) (number byte, body []byte, err error) {
	head, err := r.Peek(5)
	if err != nil {
		return 0, nil, err
	}
	size := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	if size == 0 || size > 4096 || head[3] > 16 {
		return 0, nil, otherProtocol(mysql, beginning(r))
	}
	body = make([]byte, 4+size)
	_, err = io.ReadFull(r, body)
	return body[3], body[4:], err
}

func mysqlSend(conn net.Conn, number byte, body []byte) error {
	_, err := conn.Write(append([]byte{byte(len(body)), byte(len(body) >> 8), byte(len(body) >> 16), number}, body...))
	return err
}
