package mcp

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/ouro-timer/ouro-timer/cmd/option"
)

// withFields returns a JSON object with more fields at its end. Everything else stays as it is.
func withFields(answer []byte, more map[string]any) ([]byte, error) {
	text := bytes.TrimSpace(answer)
	if !json.Valid(text) || text[0] != '{' {
		return nil, errors.New("the answer is not an object of JSON")
	}
	for name, v := range more {
		comma := ","
		if len(text) == len("{}") {
			comma = ""
		}
		text = append(text[:len(text)-1:len(text)-1], comma+option.JSON(name)+":"+option.JSON(v)+"}"...)
	}
	return text, nil
}

// withoutNulls returns a JSON object without its null fields.
func withoutNulls(object []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	var b bytes.Buffer
	if copyWithoutNulls(d, &b) != nil {
		return object
	}
	return b.Bytes()
}

// copyWithoutNulls copies one value without its null fields, in order.
func copyWithoutNulls(d *json.Decoder, b *bytes.Buffer) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	var value func(token json.Token) error
	value = func(token json.Token) error {
		delim, nested := token.(json.Delim)
		if !nested {
			b.WriteString(option.JSON(token))
			return nil
		}
		b.WriteString(delim.String())
		begun := false
		for d.More() {
			token, err := d.Token()
			if err != nil {
				return err
			}
			name := ""
			if delim == '{' {
				name = option.JSON(token) + ":"
				if token, err = d.Token(); err != nil {
					return err
				}
				if token == nil {
					continue
				}
			}
			if begun {
				b.WriteByte(',')
			}
			begun = true
			b.WriteString(name)
			if err := value(token); err != nil {
				return err
			}
		}
		end, err := d.Token()
		if err != nil {
			return err
		}
		b.WriteString(end.(json.Delim).String())
		return nil
	}
	return value(token)
}
