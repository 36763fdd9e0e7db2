package health

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const grpc = "gRPC"

// askGRPC calls Check of the health protocol, for the service that the URL names, or else for the
// whole server. The message and its frame are a few bytes and need no library.
// https://github.com/grpc/grpc/blob/master/doc/health-checking.md
func askGRPC(ctx context.Context, conn net.Conn, t Target) error {
	dial := func(context.Context, string, string) (net.Conn, error) {
		if conn == nil {
			return nil, io.EOF // one attempt is one connection
		}
		c := conn
		conn = nil
		return c, nil
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{DialContext: dial, DialTLSContext: dial, Protocols: protocols, DisableCompression: true, MaxResponseHeaderBytes: maxReply}
	defer transport.CloseIdleConnections()
	web := url.URL{Scheme: "http", Host: net.JoinHostPort(t.host, t.port), Path: "/grpc.health.v1.Health/Check"}
	if t.url.Scheme == "grpcs" {
		web.Scheme = "https"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, web.String(), bytes.NewReader(grpcCheck(strings.TrimPrefix(t.url.Path, "/"))))
	if err != nil {
		return err
	}
	req.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "User-Agent": {userAgent}}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return notHTTP2(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "application/grpc") {
		return otherProtocol(grpc, "HTTP "+strconv.Itoa(res.StatusCode)+" "+res.Header.Get("Content-Type"))
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	if err != nil {
		return notHTTP2(ctx, err)
	}
	status := cmp.Or(res.Trailer.Get("Grpc-Status"), res.Header.Get("Grpc-Status"))
	message := cmp.Or(res.Trailer.Get("Grpc-Message"), res.Header.Get("Grpc-Message"))
	return judgeGRPC(status, message, body)
}

// notHTTP2 returns the fault of a server that does not speak HTTP/2. The transport has no error
// types for it.
func notHTTP2(ctx context.Context, err error) error {
	var system net.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &system), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return err
	}
	text := innermost(err).Error()
	switch {
	case strings.Contains(text, "could not be established"), strings.Contains(text, "connection lost"):
		return io.EOF
	case strings.Contains(text, "GOAWAY"):
		return notReady("GOAWAY")
	}
	return otherProtocol(grpc, text)
}

// grpcCheck returns the request in its frame. Field 1 is the service.
func grpcCheck(service string) []byte {
	var message []byte
	if service != "" {
		message = append(binary.AppendUvarint([]byte{1<<3 | 2}, uint64(len(service))), service...)
	}
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// judgeGRPC judges the status of the call and, when the call succeeded, the status in its message.
// https://grpc.github.io/grpc/core/md_doc_statuscodes.html
func judgeGRPC(status, message string, body []byte) error {
	if plain, err := url.PathUnescape(message); err == nil {
		message = plain
	}
	words := func(code string) string {
		if message == "" {
			return code
		}
		return code + ": " + message
	}
	code, err := strconv.Atoi(status)
	names := []string{"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED",
		"FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"}
	switch {
	case err != nil || code < 0 || code >= len(names):
		return otherProtocol(grpc, "grpc-status "+status)
	case code == 7, code == 16:
		return denied(words(names[code]))
	case code == 12:
		return &fault{Cause: newCause(NoHealthService, words(names[code])), permanent: true, present: true, answered: true, rank: wrong}
	case code != 0:
		return notReady(words(names[code]))
	}
	serving, ok := grpcServing(body)
	switch {
	case !ok:
		return otherProtocol(grpc, string(body))
	case serving == 1:
		return nil
	case serving < 4:
		return notReady([]string{"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"}[serving])
	}
	return notReady("status " + strconv.FormatUint(serving, 10))
}

// grpcServing reads field 1 of the message in an uncompressed frame. A message without it says 0,
// UNKNOWN.
func grpcServing(frame []byte) (status uint64, ok bool) {
	if len(frame) < 5 || frame[0] != 0 || int64(binary.BigEndian.Uint32(frame[1:])) != int64(len(frame)-5) {
		return 0, false
	}
	for m := frame[5:]; len(m) > 0; {
		tag, n := binary.Uvarint(m)
		value, size := binary.Uvarint(m[max(n, 0):])
		// the kinds of fields that a newer message may have: a number, 8 bytes, a text, 4 bytes
		switch tag & 7 {
		case 0:
			if tag>>3 == 1 {
				status = value
			}
		case 1:
			size = 8
		case 2:
			size += int(min(value, maxReply))
		case 5:
			size = 4
		default:
			return 0, false
		}
		if n <= 0 || size <= 0 || n+size > len(m) {
			return 0, false
		}
		m = m[n+size:]
	}
	return status, true
}
