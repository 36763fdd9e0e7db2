package health

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net"
	"strings"
)

// askNATS reads the INFO line with which NATS greets. When no login is required, it sends PING.
// https://docs.nats.io/reference/reference-protocols/nats-protocol
func askNATS(_ context.Context, conn net.Conn, _ Target) error {
	const protocol = "NATS"
	r := bufio.NewReaderSize(io.LimitReader(conn, maxReply), 32<<10)
	said, err := readLine(r, protocol, "I-")
	if err != nil {
		return err
	}
	if words, ok := strings.CutPrefix(said, "-ERR"); ok {
		return judgeNATS(words)
	}
	text, ok := strings.CutPrefix(said, "INFO ")
	var info struct {
		AuthRequired bool `json:"auth_required"`
		TLSRequired  bool `json:"tls_required"`
		LameDuck     bool `json:"ldm"`
	}
	switch {
	case !ok || json.Unmarshal([]byte(text), &info) != nil:
		return otherProtocol(protocol, said)
	case info.LameDuck:
		return notReady("lame duck mode")
	case info.AuthRequired, info.TLSRequired:
		return nil
	}
	if _, err := io.WriteString(conn, `CONNECT {"verbose":false,"pedantic":false,"name":"`+userAgent+"\"}\r\nPING\r\n"); err != nil {
		return err
	}
	for range 16 {
		said, err := readLine(r, protocol, "P-+I")
		if err != nil {
			return err
		}
		words, bad := strings.CutPrefix(said, "-ERR")
		switch {
		case said == "PONG":
			return nil
		case bad:
			return judgeNATS(words)
		case said == "PING", said == "+OK", strings.HasPrefix(said, "INFO "):
		default:
			return otherProtocol(protocol, said)
		}
	}
	return otherProtocol(protocol, said)
}

// judgeNATS judges an error.
func judgeNATS(words string) error {
	words = strings.Trim(words, " '")
	if strings.HasPrefix(words, "Authorization") || strings.HasPrefix(words, "Authentication") {
		return nil
	}
	return notReady(cmp.Or(words, "-ERR"))
}
