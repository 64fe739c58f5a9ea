#!/usr/bin/env bash
# A board made of stock tools: mosquitto_sub listens as the board itself,
# mosquitto_pub speaks as its helpers ({boardId}/up...). See
# docs/board-protocol.md. It says hello, executes open, hold and close (its
# relay is a line on stdout), acknowledges content without keeping any, and
# refuses outage policies. Stop it before the simulated board is attached
# again: two that hold one id take each other over for ever.
set -u
: "${EPOCHREALTIME:?needs bash 5}"
if [ $# -ne 4 ]; then
	echo "usage: ${0##*/} HOST PORT BOARD_ID PASSWORD" >&2
	exit 2
fi
host=$1 port=$2 board=$3 password=$4
topic=sac/v1/$board
broker=(-V mqttv311 -h "$host" -p "$port" -u "$board" -P "$password")
epoch=0 base=0 sent=0 revision=0 said=0 awaited=0
declare -A reports=() unacked=()

say() { # CHANNEL JSON
	mosquitto_pub "${broker[@]}" -i "$board/up-$$-$((++said))" -t "$topic/$1" -m "$2"
}

# mono is a monotonic clock in ms, wall is Unix ms.
mono() {
	if [ -r /proc/uptime ]; then
		read -r REPLY _ </proc/uptime
		REPLY=$((10#${REPLY/./} * 10))
	else
		wall
	fi
}
wall() { REPLY=$((${EPOCHREALTIME/[.,]/} / 1000)); }

# get sets REPLY to a string or number of a flat JSON object, "" if it is not there.
get() { # JSON NAME
	REPLY=
	[[ $1 =~ \"$2\":\"?([^\",}]*) ]] && REPLY=${BASH_REMATCH[1]}
}

hello() {
	epoch=0
	mono
	sent=$REPLY # the session's base is when the hello was SENT
	say hello "{\"proto\":2,\"boot\":1,\"revision\":$revision,\"outageAgeMs\":0,\"firmware\":\"mosquitto-board\"}"
}

acknowledged() { # JSON
	get "$1" type
	case $REPLY in
	hello)
		get "$1" sessionMs && base=$REPLY
		get "$1" epoch && epoch=$REPLY
		echo "online, epoch $epoch"
		for id in "${!unacked[@]}"; do say rpt "${reports[$id]}"; done
		;;
	rpt) get "$1" commandId && unset "unacked[$REPLY]" ;;
	esac
}

execute() { # JSON
	local id door what now result='"result":"ok"'
	get "$1" id && id=$REPLY
	if [ -n "${reports[$id]:-}" ]; then # the stored report, the relay stays
		say rpt "${reports[$id]}"
		return
	fi
	get "$1" doorId && door=$REPLY
	get "$1" command && what=$REPLY
	mono
	now=$((base + REPLY - sent + 20)) # the clock's steps are 10 ms
	get "$1" epoch
	if [ "$REPLY" != "$epoch" ] || { get "$1" notAfterMs && [ "$now" -gt "$REPLY" ]; }; then
		result='"result":"refused","code":"expired"'
	elif [[ ! $what =~ ^(open|hold|close)$ ]]; then
		result='"result":"refused","code":"unsupported"'
	else
		echo "$what $door $id"
	fi
	get "$1" epoch
	local of=$REPLY
	wall
	reports[$id]="{\"commandId\":\"$id\",\"epoch\":$of,$result,\"at\":$REPLY}"
	unacked[$id]=1
	say rpt "${reports[$id]}"
}

receive() { # CHANNEL JSON
	case $1 in
	ack) acknowledged "$2" ;;
	cmd) execute "$2" ;;
	sync)
		local page=1 pages=1
		get "$2" page && page=${REPLY:-1}
		get "$2" pages && pages=${REPLY:-1}
		if [ "$page" -lt "$pages" ]; then # it keeps none of them
			get "$2" to
			say ack "{\"type\":\"page\",\"revision\":$REPLY,\"page\":$page}"
			return
		fi
		get "$2" to && revision=$REPLY
		say ack "{\"type\":\"sync\",\"revision\":$revision}"
		;;
	cfg)
		get "$2" id
		say ack "{\"type\":\"cfg\",\"id\":\"$REPLY\",\"result\":\"refused\",\"code\":\"unsupported\"}"
		;;
	esac
}

# idle: nothing came for a while. Whoever does not answer a ping has not heard
# our hello, or mosquitto_sub is on a new connection.
idle() {
	if [ "$epoch" = 0 ] || [ "$awaited" -ge 1 ]; then
		awaited=0
		hello
	else
		awaited=$((awaited + 1))
		say ping '{}'
	fi
}

trap 'kill "$sub" 2>/dev/null; exit 0' INT TERM
trap 'kill "$sub" 2>/dev/null' EXIT
sub=
while :; do
	# Only the start of a message matters here, and content can be megabytes.
	exec {down}< <({
		mosquitto_sub "${broker[@]}" -i "$board" -k 30 -F '%t %p' \
			-t "$topic/cmd" -t "$topic/sync" -t "$topic/cfg" -t "$topic/ack" &
		echo "pid $!"
		wait
	} | LC_ALL=C grep --line-buffered -oE '^.{1,1000}')
	read -r _ sub <&"$down"
	hello
	while :; do
		wait_for=2
		[ "$epoch" = 0 ] && wait_for=1
		if IFS=' ' read -r -t "$wait_for" where json <&"$down"; then
			awaited=0
			receive "${where##*/}" "$json"
		elif [ $? -gt 128 ]; then
			idle
		else
			break
		fi
	done
	exec {down}<&-
	[ "$base" = 0 ] && { echo "no connection to $host:$port as $board" >&2; exit 1; }
	epoch=0
	sleep 2
done
