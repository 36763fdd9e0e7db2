package cmd

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

const notText = "give it as UTF-8; keep other bytes in a file, and schedule a command that reads it"

// arranged is a command's words, sorted: flags (each as one --name=value word), arguments, and the tail after "--".
type arranged struct {
	flags []string
	args  []string
	tail  []string
	dash  bool
	after int // how many of the arguments followed the dash
	help  bool
	typed map[string]string // another name that a flag was given by, by its first
}

// name notes by which of its names a flag was given.
func (a *arranged) name(f cli.Flag, name string) {
	if first := f.Names()[0]; first != name {
		if a.typed == nil {
			a.typed = map[string]string{}
		}
		a.typed[first] = name
	}
}

// arrange sorts a command's words, because the library stops reading flags at the first argument and would take the rest
// as arguments without a word. Flags and arguments mix in any order; everything after the first "--" is left alone. A word
// that begins with a dash and a digit, such as -5m, is an argument: no flag is called that.
func arrange(words []string, c *command) (arranged, error) {
	var a arranged
	for i := 0; i < len(words); i++ {
		w := words[i]
		if !utf8.ValidString(w) {
			return a, usage("an argument is not valid UTF-8", notText)
		}
		switch {
		case w == "--":
			a.dash = true
			rest := words[i+1:]
			for _, r := range rest {
				if !utf8.ValidString(r) {
					return a, usage("an argument is not valid UTF-8", notText)
				}
			}
			if c.tail {
				a.tail = rest
			} else {
				a.args, a.after = append(a.args, rest...), len(rest)
			}
			return a, nil
		case w == "-" || !strings.HasPrefix(w, "-") || isNumber(w):
			a.args = append(a.args, w)
			continue
		case strings.HasPrefix(w, "--"):
			name, value, has := strings.Cut(w[2:], "=")
			f := flagNamed(c, name)
			if f == nil {
				if name == "help" {
					a.help = true
					continue
				}
				return a, unknownFlag("--"+name, c)
			}
			a.name(f, name)
			if isBool(f) {
				if has {
					if value != "true" && value != "false" {
						return a, usage("--"+name+" takes no value", "write --"+name+" alone")
					}
					a.flags = append(a.flags, w)
				} else {
					a.flags = append(a.flags, "--"+name)
				}
				continue
			}
			if !has && name == c.optional {
				switch next := words[min(i+1, len(words)-1)]; {
				case i+1 < len(words) && strings.Trim(next, "0123456789") == "" && !state.WholeID(next):
					return a, usage("--"+name+" "+next+" is no duration: the unit is missing", "write --"+name+" 10m, or leave the time out; "+
						"before the ID of a task --"+name+"=10m")
				case i+1 == len(words) || !isLength(next):
					a.flags = append(a.flags, "--"+name+"=")
					continue
				case state.WholeID(strings.ToLower(next)):
					return a, usage("is "+quote(next)+" behind --"+name+" a duration, or the ID of a task?",
						"write --"+name+"="+next+" for the one, --"+name+"=10m "+next+" for the other")
				}
			}
			if !has {
				if i+1 >= len(words) || words[i+1] == "--" {
					return a, usage("--"+name+" needs a value", "write --"+name+" "+placeholder(f))
				}
				i++
				value = words[i]
				if !utf8.ValidString(value) {
					return a, usage("the value of --"+name+" is not valid UTF-8", notText)
				}
			}
			if err := checkNumber(f, "--"+name, value); err != nil {
				return a, err
			}
			a.flags = append(a.flags, "--"+name+"="+value)
		default: // a cluster of short flags, the last of which may have a value: -q, -n5, -qn 5
			cluster := w[1:]
			for len(cluster) > 0 {
				r, n := utf8.DecodeRuneInString(cluster)
				short := string(r)
				cluster = cluster[n:]
				f := flagNamed(c, short)
				if f == nil {
					if short == "h" {
						a.help = true
						continue
					}
					return a, unknownFlag(w, c)
				}
				name := f.Names()[0]
				if isBool(f) {
					a.flags = append(a.flags, "--"+name)
					continue
				}
				value := strings.TrimPrefix(cluster, "=")
				if cluster == "" {
					if i+1 >= len(words) || words[i+1] == "--" {
						return a, usage("-"+short+" needs a value", "write -"+short+" "+placeholder(f))
					}
					i++
					value = words[i]
				}
				if !utf8.ValidString(value) {
					return a, usage("the value of -"+short+" is not valid UTF-8", notText)
				}
				if err := checkNumber(f, "-"+short, value); err != nil {
					return a, err
				}
				a.flags = append(a.flags, "--"+name+"="+value)
				cluster = ""
			}
		}
	}
	return a, nil
}

// isNumber reports whether a word that begins with a dash is a negative number or duration (-5m, "- 1 day") rather than a flag.
func isNumber(w string) bool {
	return len(w) > 1 && (w[1] >= '0' && w[1] <= '9' || w[1] == '.' || w[1] == ' ')
}

// isLength reports whether a word is a length of time, and not the ID of a task or the next option.
func isLength(w string) bool {
	if w == "" || w[0] < '0' || w[0] > '9' {
		return false
	}
	_, err := when.Duration(w)
	return err == nil
}

// flagNamed returns the command's flag of that name or alias, or nil.
func flagNamed(c *command, name string) cli.Flag {
	for _, f := range c.flags {
		for _, n := range f.Names() {
			if n == name {
				return f
			}
		}
	}
	return nil
}

func isBool(f cli.Flag) bool {
	_, ok := f.(*cli.BoolFlag)
	return ok
}

// checkNumber refuses a value that a flag of whole numbers could not take.
func checkNumber(f cli.Flag, flag, value string) error {
	if _, ok := f.(*cli.IntFlag); !ok {
		return nil
	}
	n, err := strconv.Atoi(value)
	digits := value[:len(value)-len(strings.TrimLeft(value, "0123456789"))]
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && n > math.MaxInt32:
		return usage(flag+" is "+quote(value)+", which is too large", "the most is "+strconv.Itoa(math.MaxInt32))
	case err != nil && digits != "" && len(digits) < 9:
		return usage(flag+" is "+quote(value)+", not a whole number", "write "+flag+" "+digits)
	case err != nil:
		return usage(flag+" is "+quote(value)+", not a whole number", "write "+flag+" 5")
	}
	return nil
}

// placeholder is what a flag's value is called in its help.
func placeholder(f cli.Flag) string {
	if d, ok := f.(cli.DocGenerationFlag); ok {
		if _, rest, ok := strings.Cut(d.GetUsage(), "`"); ok {
			if name, _, ok := strings.Cut(rest, "`"); ok {
				return name
			}
		}
	}
	return "VALUE"
}

// unknownFlag refuses a flag the command does not have, by name, with the nearest one.
func unknownFlag(flag string, c *command) error {
	word := strings.TrimLeft(flag, "-")
	var names []string
	for _, f := range c.flags {
		for _, n := range f.Names() {
			if len(n) > 1 && (len(n) > 4 || strings.HasPrefix(word, n[:1])) { // few letters are soon alike
				names = append(names, n)
			}
		}
	}
	hint := "see ouro-timer " + c.name + " --help"
	if flag == "-t" && c.name == "health-wait" { // as other programs of the kind have it
		hint = "the time-out is written --timeout 5s; " + hint
	} else if instead := foreignOption(word, c.name); instead != "" {
		return usage("ouro-timer "+c.name+" has no option "+quote(flag), instead)
	} else if n := strings.ReplaceAll(word, "_", "-"); n != word && flagNamed(c, n) != nil {
		hint = "write --" + n
	} else if n := nearest(word, names); n != "" {
		hint = "did you mean --" + n + "? " + hint
	}
	if c.tail {
		hint += "; an option of the command to run stands after --"
	} else if c.name == "wait" {
		hint += "; a task that begins with a dash stands after --"
	}
	return usage("ouro-timer "+c.name+" has no option "+quote(flag), hint)
}

// nearest returns the name that is at most a third of its length away from the word, or "".
func nearest(word string, names []string) string {
	best, least := "", 1<<30
	for _, n := range names {
		if d := distance(word, n); d < least {
			best, least = n, d
		}
	}
	if best == "" || least > max(1, utf8.RuneCountInString(best)/3) {
		return ""
	}
	return best
}

// distance is the number of letters to insert, delete, change or swap to make b of a.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 64 || len(y) > 64 {
		return 1 << 20
	}
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(x)][len(y)]
}
