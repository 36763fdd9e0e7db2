package cmd

import (
	"strings"
	"testing"
)

// TestLocaleOnTerminal: names of days and the clock are those of LC_TIME for a person at a terminal, and for nobody else.
func TestLocaleOnTerminal(t *testing.T) {
	t.Parallel()
	const begin = `mkdir bin; cat >bin/locale <<'END'
#!/bin/sh
[ "$*" = "-k LC_TIME" ] && [ "$LC_ALL" = xx_XX.UTF-8 ] || exit 1
echo 'abday="nie;pon;wto;śro;czw;pią;sob"'
echo 'abmon="sty;lut;mar;kwi;maj;cze;lip;sie;wrz;paź;lis;gru"'
echo 'am_pm="przed;po"'
echo 't_fmt="%I:%M:%S %p"'
END
chmod +x bin/locale; PATH=$PWD/bin:$PATH; unset LC_ALL; stty cols 100
ouro-timer at 2031-01-01T16:00 --task Bob --no-autostart >/dev/null 2>&1; echo ---; `
	for _, c := range []struct {
		name, text string
		day, clock string
	}{
		{"LC_TIME", "LC_TIME=xx_XX.UTF-8 ouro-timer ls", "śro 1 sty 2031", " 4:00:00 po  "},
		{"LC_ALL beats it", "LC_ALL=xx_XX.UTF-8 LC_TIME=C ouro-timer ls", "śro 1 sty 2031", " 4:00:00 po  "},
		{"C", "LC_ALL=C LC_TIME=xx_XX.UTF-8 ouro-timer ls", "Wed 1 Jan 2031", "  16:00:00  "},
		{"LANG alone", "LANG=xx_XX.UTF-8 ouro-timer ls", "Wed 1 Jan 2031", "  16:00:00  "},
		{"none that the system has", "LC_TIME=yy_YY.UTF-8 ouro-timer ls", "Wed 1 Jan 2031", "  16:00:00  "},
		{"no locale(1)", "o=$(command -v ouro-timer); PATH= LC_TIME=xx_XX.UTF-8 $o ls", "Wed 1 Jan 2031", "  16:00:00  "},
		{"a calendar in a pipe", "LC_TIME=xx_XX.UTF-8 ouro-timer ls --format calendar | cat", "Wed 1 Jan 2031", "  16:00:00  "},
		{"what comes until then", "LC_TIME=xx_XX.UTF-8 ouro-timer ls --before 2032-01-01", "śro 1 sty 2031 4:00:00 po", ""},
		{"a narrow window", "stty cols 60; LC_TIME=xx_XX.UTF-8 ouro-timer ls", "śro 1 sty 2031", " 4:00 po  "},
		{"the end of a wait", "LC_TIME=xx_XX.UTF-8 ouro-timer wait 1s --name tea", "tea: 1 second is over, at ", ":"},
	} {
		_, said := onTerminal(t, begin+c.text).end()
		if _, said, _ = strings.Cut(said, "---\r\n"); !strings.Contains(said, c.day) || !strings.Contains(said, c.clock) {
			t.Errorf("%s:\n%s", c.name, said)
		}
		if strings.Contains(c.text, " wait ") && !strings.Contains(said, " przed") && !strings.Contains(said, " po") {
			t.Errorf("%s: the clock has 24 hours:\n%s", c.name, said)
		}
	}
}
