#!/usr/bin/env bash
# The paths of five newcomers (partner, QA, performance, CI, hardware), each walked in a
# fresh clone with the commands that the pages print, and how long each takes. Usage:
# tools/paths.sh [PATH...], from the root of the repository; 'make paths' walks all.
# The pages' addresses are fixed: where possible this runs in a network of its own.
set -euo pipefail
if [ -z "${DOORLAB_PATHS_DIR:-}" ]; then
	DOORLAB_PATHS_DIR=$(mktemp -d)
	export DOORLAB_PATHS_DIR
	git clone -q . "$DOORLAB_PATHS_DIR/doorlab"
	(cd "$DOORLAB_PATHS_DIR/doorlab" && go mod download && make build >/dev/null)
	code=0
	if unshare --map-root-user --net ip link set lo up 2>/dev/null; then
		unshare --map-root-user --net bash -c 'ip link set lo up && exec "$0" "$@"' "$(realpath "$0")" "$@" || code=$?
	else
		"$(realpath "$0")" "$@" || code=$?
	fi
	[ $code != 0 ] || rm -rf "$DOORLAB_PATHS_DIR"
	exit $code
fi

repo=$DOORLAB_PATHS_DIR/doorlab lab=
trap '[ -z "$lab" ] || kill "$lab"' EXIT

# commands are the shell blocks of a page, those with a word in them if one is given.
commands() { # PAGE [WORD]
	awk -v word="${2:-}" '/^```sh$/ {on = 1; block = ""; next} /^```/ {if (on && (word == "" || index(block, word))) printf "%s\n", block; on = 0}
		on {block = block $0 "\n"}' "$repo/$1"
}

# paste runs what it reads as a person pastes it, in the current directory.
paste() { PATH="$repo/bin:$PATH" bash -eu -o pipefail -c "$(cat)"; }

# up starts a lab in the background, as in a terminal of its own, and returns when
# it has printed its token.
up() {
	PATH="$repo/bin:$PATH" "$@" >up.txt 2>&1 &
	lab=$!
	until grep -q 'Press Ctrl-C' up.txt; do
		kill -0 $lab 2>/dev/null || { cat up.txt; lab=; return 1; }
		sleep 0.1
	done
	eval "$(grep -o 'export DOORLAB_.*' up.txt)" # as it says
}
down() { kill "$lab"; wait "$lab" || true; lab=; } # make's own exit code isn't 0

says() { # FILE TEXT...
	local file=$1 text
	shift
	for text in "$@"; do grep -qF -- "$text" "$file" || { echo "no \"$text\" in what was printed:"; cat "$file"; return 1; }; done
}

partner() { # README's session, docs/partners.md to the checklist, the four clients
	up make -s -C "$repo" up
	commands README.md 'accessToken' | paste >readme.txt
	says readme.txt '"outcome":"reported"' '"result":"opened"'
	down
	up doorlab up --clock virtual
	commands docs/partners.md | paste >partners.txt
	[ "$(grep -c '^proven: ' partners.txt)" = 8 ] || { cat partners.txt; return 1; } # the whole checklist
	local key=sact_aS5ve5JPJVtKKobnJEWdugxvzo5bcA3nhJa3
	python3 "$repo/examples/partner.py" http://127.0.0.1:8080 $key >clients.txt
	(cd "$repo" && go run ./examples/go http://127.0.0.1:8080 $key) >>clients.txt
	command -v node >/dev/null && node "$repo/examples/partner.mjs" http://127.0.0.1:8080 $key >>clients.txt
	command -v java >/dev/null && java "$repo/examples/Partner.java" http://127.0.0.1:8080 $key >>clients.txt
	down
}

qa() { # docs/tutorial.md, README's scenario, the quick suite
	commands docs/tutorial.md | paste >tutorial.txt 2>&1
	says tutorial.txt 'exit code 3' 'exit code 4' 'ann stays out' 'PASS'
	awk '/^```yaml$/ {on = 1; next} /^```/ {on = 0} on' "$repo/README.md" >outage.yaml
	(echo 'doorlab check outage.yaml'; echo 'doorlab check --smoke') | paste >check.txt 2>&1
	says check.txt 'PASS · 1 scenario'
}

performance() { # docs/load-testing.md: the built-in plan, then the page's own plan; INVALID is a machine too slow
	awk '/^```yaml$/ {on = 1; next} /^```/ {if (on) exit} on' "$repo/docs/load-testing.md" >my-plan.yaml
	local plan
	for plan in door-commands my-plan.yaml; do
		echo "doorlab load $plan || [ \$? = 6 ]" | paste >load.txt 2>&1
		says load.txt 'guarantees that the run exercised (0 breached)' 'report.html'
	done
}

ci() { # docs/ci.md
	commands docs/ci.md | paste >ci.txt 2>&1
	says ci.txt 'PASS · 1 scenario' 'is ready' 'flt_'
}

hardware() { # docs/board-protocol.md: a board of mosquitto's tools takes a simulated one's place
	command -v mosquitto_sub >/dev/null || { echo "needs mosquitto-clients"; return 1; }
	up doorlab up
	(cd "$repo" && commands docs/board-protocol.md | paste) >board.txt 2>&1
	says board.txt 'reported'
	down
}

if [ "${1:-}" = --one ]; then # errexit works only in a process of its own
	mkdir -p "$DOORLAB_PATHS_DIR/$2" && cd "$DOORLAB_PATHS_DIR/$2" && "$2"
	exit
fi
for path in ${*:-partner qa performance ci hardware}; do
	began=$EPOCHREALTIME
	"$0" --one "$path" || { echo "$path: FAILED; its files are in $DOORLAB_PATHS_DIR/$path"; exit 1; }
	took=$(((${EPOCHREALTIME/[.,]/} - ${began/[.,]/}) / 100000)) # in tenths of a second
	printf '%-12s %4d.%d s\n' "$path" $((took / 10)) $((took % 10))
done
