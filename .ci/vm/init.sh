#!/bin/sh
# The first process of the machine. The words of the kernel's command line say what it plays. Each line that begins with @ is for
# the program that looks on.
export PATH=/bin HOME=/root TZ=UTC SHELL=/bin/sh OURO_AUTOSTART=0
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
o=ouro-timer
at() { $o at --quiet "$@" 2>/dev/null; }
up() { cut -d ' ' -f 1 /proc/uptime; }

# clock: the clock is set forward by an hour, back by it, back by ten hours, and right again.
clock() {
	date -s '2026-11-28 12:00:00' >/dev/null
	at 13:00 -c 'echo "@ran one" >/dev/console'
	at in 30s -c 'echo "@ran thirty" >/dev/console'
	at every day at 12:30 -c 'echo "@ran daily" >/dev/console'
	at --cron '*/5 * * * *' -c 'echo "@ran five $OURO_OCCURRENCE" >/dev/console'
	at --every 10s -c 'echo "@ran ten $OURO_OCCURRENCE" >/dev/console'
	$o run --background 2>/dev/null
	(from=$(up); $o wait 25s </dev/null >/dev/null 2>&1; echo "@waited 25 $? $from $(up)") &
	($o wait --until 13:00 </dev/null >/dev/null 2>&1; echo "@waited until $? $(date +%H)") &
	sleep 12
	echo "@set forward"; date -s '2026-11-28 13:00:05' >/dev/null; sleep 20
	echo "@set back"; date -s '2026-11-28 12:00:30' >/dev/null; sleep 15
	echo "@set back by hours"; date -s '2026-11-28 02:30:00' >/dev/null; sleep 15
	echo "@set right"; date -s '2026-11-28 13:02:00' >/dev/null; sleep 15
	$o log --audit --json | sed 's/^/@audit /'
}

# sleep_ puts the machine to sleep for 40 s.
sleep_() {
	at in 15s -c 'echo "@ran fifteen" >/dev/console'
	at in 60s -c 'echo "@ran sixty" >/dev/console'
	$o run --background 2>/dev/null
	(from=$(up); $o wait 20s </dev/null >/dev/null 2>&1; echo "@waited 20 $? $from $(up)") &
	(from=$(up); $o wait 70s </dev/null >/dev/null 2>&1; echo "@waited 70 $? $from $(up)") &
	sleep 3
	echo +40 >/sys/class/rtc/rtc0/wakealarm
	echo mem >/sys/power/state
	echo "@awake"
	sleep 35
	$o log --audit --json | sed 's/^/@audit /'
}

# power schedules and runs until the power is cut. It says what was confirmed as soon as it was.
power() {
	export RUN='echo "@ran $OURO_OCCURRENCE" >/dev/console'
	id=$(at --every 1s --key tick -c "$RUN") && echo "@made $id"
	n=0
	while :; do
		n=$((n + 1))
		case $((n % 5)) in
		0) id=$(at in 10h -c 'echo "@ran $OURO_OCCURRENCE" >/dev/console') && echo "@made $id" && $o rm --quiet "$id" >/dev/null 2>&1 && echo "@removed $id" ;;
		1) id=$(at in 1s -c "$RUN") && echo "@made $id" ;;
		2) for s in 0 1 2 0 1 2 0 1; do echo "{\"when\":\"in ${s}s\",\"shell\":\"echo @ran \$OURO_OCCURRENCE >/dev/console\"}"; done |
			$o at --stdin jsonl --quiet 2>/dev/null | sed 's/^/@made /' ;;
		3) id=$(at in 3s --key "k$((n % 7))" --replace -c "$RUN") && echo "@made $id" ;;
		4) id=$(at in 2s -c "$RUN; sleep 1") && echo "@made $id" && $o edit "$id" in 1s --quiet >/dev/null 2>&1 ;;
		esac
	done
}

# after says what is there when the power has come back for good, and all that was due has run.
after() {
	$o run --background 2>/dev/null
	sleep 30
	$o run --stop >/dev/null 2>&1 # so that no run writes between what follows
	$o doctor --json | sed 's/^/@doctor /'
	$o log --audit --json | sed 's/^/@audit /'
	$o log --json -n 1000000 | sed 's/^/@line /'
	$o ls --all --json | sed 's/^/@task /'
}

play=$(sed -n 's/.*play=\([a-z_]*\).*/\1/p' /proc/cmdline)
options=$(sed -n 's/.*mount=\([a-z0-9,=]*\).*/\1/p' /proc/cmdline)
if [ "$play" = power ] || [ "$play" = after ]; then
	for m in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk; do insmod "/modules/$m.ko"; done
	until [ -e /dev/vda ]; do sleep 0.1; done
	mount -t ext4 ${options:+-o "$options"} /dev/vda /root || echo "@failed to mount"
fi
cd /root || exit
echo "@begun"
"$play"
echo "@done"
poweroff -f
