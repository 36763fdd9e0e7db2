package health

import (
	"context"
	"fmt"
	"net"
	"strings"
)

// askRedis sends PING. A server that demands a password is ready. A password in the URL is sent
// first, because a Redis that is loading its data says so only after the login.
// https://redis.io/docs/latest/develop/reference/protocol-spec/
func askRedis(_ context.Context, conn net.Conn, t Target) error {
	password, given := t.url.User.Password()
	var ask []byte
	if given {
		words := []string{"AUTH", t.url.User.Username(), password}
		if words[1] == "" {
			words = []string{"AUTH", password}
		}
		ask = redisCommand(ask, words...)
	}
	if _, err := conn.Write(redisCommand(ask, "PING")); err != nil {
		return err
	}
	r := replies(conn)
	if given {
		said, err := readLine(r, "Redis", "+-")
		if err != nil {
			return err
		}
		switch {
		case strings.HasPrefix(said, "-WRONGPASS"), strings.HasPrefix(said, "-ERR invalid password"):
			return denied(said[1:])
		case strings.HasPrefix(said, "-ERR"): // it has no password
		case said != "+OK":
			return judgeRedis(said)
		}
	}
	said, err := readLine(r, "Redis", "+-")
	if err != nil {
		return err
	}
	return judgeRedis(said)
}

// judgeRedis judges the answer to PING.
func judgeRedis(said string) error {
	word, _, _ := strings.Cut(said, " ")
	switch {
	case said == "+PONG", word == "-NOAUTH", word == "-NOPERM":
		return nil
	case said == "-ERR operation not permitted": // what NOAUTH was called before Redis 2.8
		return nil
	case strings.HasPrefix(said, "-"):
		return notReady(said[1:])
	}
	return otherProtocol("Redis", said)
}

func redisCommand(to []byte, words ...string) []byte {
	to = fmt.Appendf(to, "*%d\r\n", len(words))
	for _, w := range words {
		to = fmt.Appendf(to, "$%d\r\n%s\r\n", len(w), w)
	}
	return to
}
