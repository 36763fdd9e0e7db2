package health

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
)

const amqp = "AMQP 0-9-1"

// askAMQP opens a connection of AMQP 0-9-1 and waits for the Start of the server, which a broker
// sends when its listeners are up. A server of another AMQP version answers with the header of that
// version. https://www.rabbitmq.com/resources/specs/amqp0-9-1.pdf
func askAMQP(_ context.Context, conn net.Conn, _ Target) error {
	if _, err := conn.Write([]byte("AMQP\x00\x00\x09\x01")); err != nil {
		return err
	}
	r := replies(conn)
	head, err := r.Peek(8)
	if len(head) > 0 && head[0] != 1 && head[0] != 'A' {
		return otherProtocol(amqp, beginning(r))
	}
	if err != nil {
		return err
	}
	if strings.HasPrefix(string(head), "AMQP") {
		return &fault{Cause: newCause(OtherVersion, fmt.Sprintf("AMQP %d-%d-%d", head[5], head[6], head[7])), permanent: true, present: true, answered: true, rank: wrong}
	}
	size := binary.BigEndian.Uint32(head[3:])
	if size < 4 || size > maxReply {
		return otherProtocol(amqp, beginning(r))
	}
	frame := make([]byte, 7+size+1)
	if _, err := io.ReadFull(r, frame); err != nil {
		return err
	}
	class, method := binary.BigEndian.Uint16(frame[7:]), binary.BigEndian.Uint16(frame[9:])
	switch body := frame[11 : len(frame)-1]; {
	case frame[len(frame)-1] != 0xce || class != 10:
		return otherProtocol(amqp, string(frame))
	case method == 10: // Start
		return nil
	case method == 50 && len(body) > 3: // Close: a code and its text
		return notReady(string(body[3:min(len(body), 3+int(body[2]))]))
	}
	return otherProtocol(amqp, string(frame))
}
