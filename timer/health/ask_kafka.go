package health

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
)

const kafka = "Kafka"

const kafkaVersions, kafkaMetadata = 18, 3 // keys of requests

// askKafka asks a broker which requests it accepts, and then which brokers it knows and which one
// leads them. A broker that hangs up on the second question requires a login: it is ready.
// https://kafka.apache.org/protocol
func askKafka(_ context.Context, conn net.Conn, _ Target) error {
	r := replies(conn)
	b, err := kafkaCall(conn, r, kafkaVersions, 0, 1, nil)
	if err != nil {
		return err
	}
	const metadata = 4 // brokers from 0.11 on have it
	code, rows := b.int16(), b.int32()
	has := false
	for range max(0, min(rows, 1000)) {
		key, from, to := b.int16(), b.int16(), b.int16()
		has = has || key == kafkaMetadata && from <= metadata && metadata <= to
	}
	switch {
	case b.short:
		return otherProtocol(kafka, string(b.all))
	case code != 0:
		return notReady(kafkaWords(code))
	case !has:
		return nil
	}
	// no topics, and do not create any
	b, err = kafkaCall(conn, r, kafkaMetadata, metadata, 2, []byte{0, 0, 0, 0, 0})
	if err == io.EOF || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	if err != nil {
		return err
	}
	b.int32() // how long it has delayed the answer
	brokers := b.int32()
	for range max(0, min(brokers, 10000)) {
		b.int32()  // its number
		b.string() // host
		b.int32()  // port
		b.string() // rack
	}
	b.string() // cluster
	controller := b.int32()
	switch {
	case b.short:
		return otherProtocol(kafka, string(b.all))
	case brokers < 1:
		return notReady("no broker is known")
	case controller < 0:
		return notReady("no controller is known")
	}
	return nil
}

// kafkaWords names the errors that may answer the question about versions.
func kafkaWords(code int) string {
	names := map[int]string{8: "BROKER_NOT_AVAILABLE", 13: "NETWORK_EXCEPTION", 35: "UNSUPPORTED_VERSION", 41: "NOT_CONTROLLER", 58: "SASL_AUTHENTICATION_FAILED"}
	if name, ok := names[code]; ok {
		return name
	}
	return fmt.Sprintf("error %d", code)
}

// kafkaCall sends a request and reads its answer.
func kafkaCall(conn io.Writer, r io.Reader, key, version uint16, number uint32, body []byte) (*kafkaFields, error) {
	b := binary.BigEndian.AppendUint16(make([]byte, 4), key)
	b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(b, version), number)
	b = append(binary.BigEndian.AppendUint16(b, uint16(len(userAgent))), userAgent...)
	b = append(b, body...)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	if _, err := conn.Write(b); err != nil {
		return nil, err
	}
	head := make([]byte, 8)
	if n, err := io.ReadFull(r, head); err != nil {
		if n > 0 && head[0] != 0 {
			err = otherProtocol(kafka, string(head[:n]))
		}
		return nil, err
	}
	size := binary.BigEndian.Uint32(head)
	if size < 4 || size > maxReply || binary.BigEndian.Uint32(head[4:]) != number {
		return nil, otherProtocol(kafka, string(head))
	}
	f := &kafkaFields{rest: make([]byte, size-4)}
	_, err := io.ReadFull(r, f.rest)
	f.all = slices.Clip(f.rest)
	return f, err
}

// kafkaFields reads the fields of an answer. A field that is missing reads as zero, and is
// remembered.
type kafkaFields struct {
	rest, all []byte
	short     bool
}

func (f *kafkaFields) take(n int) []byte {
	if n > len(f.rest) {
		f.short, f.rest = true, nil
		return make([]byte, min(n, 4))
	}
	b := f.rest[:n]
	f.rest = f.rest[n:]
	return b
}

func (f *kafkaFields) int16() int { return int(int16(binary.BigEndian.Uint16(f.take(2)))) }
func (f *kafkaFields) int32() int { return int(int32(binary.BigEndian.Uint32(f.take(4)))) }
func (f *kafkaFields) string()    { f.take(max(0, f.int16())) }
