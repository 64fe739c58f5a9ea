# make help lists the targets.
.DEFAULT_GOAL := help
BIN := bin/doorlab
FUZZTIME ?= 20s
BOARDS ?= 1000

help: ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

build: ## build bin/doorlab
	go build -o $(BIN) .

check: build ## build, then prove the guarantees on 1,000 boards (the main job)
	$(BIN) check --boards $(BOARDS)

PLANTS := publish-before-commit memory-only-ledger board-ignores-notafter outage-36h-ge revocation-lost board-acts-twice conflict-after-send

planted: ## the whole suite on each planted bug: every one must fail it (7 runs of about 2 minutes)
	go build -tags planted -o $(BIN)-planted .
	@for bug in $(PLANTS); do \
		DOORLAB_PLANT=$$bug $(BIN)-planted check --boards 20 --out runs/planted-$$bug >/dev/null 2>&1; code=$$?; \
		if [ $$code -ne 4 ]; then echo "$$bug: NOT CAUGHT, exit code $$code"; exit 1; fi; \
		echo "$$bug: caught"; grep -E '^[A-Z]+-[0-9].* FAIL ' runs/planted-$$bug/report.txt | cut -c1-160; \
	done

up: build ## run server, broker and 200 boards
	$(BIN) up

load: build ## load-test door commands in one process
	$(BIN) load door-commands

test: ## vet and every test, with the race detector
	go vet ./...
	go test -race ./...

race: test ## the same as test

fuzz: ## each fuzz target for FUZZTIME (20s)
	@for pkg in $$(go list ./...); do \
		for f in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$f" && go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
		done; \
	done

bench: ## every benchmark, five times
	go test -run '^$$' -bench . -benchmem -count 5 ./...

lint: ## golangci-lint, built from its own module
	CGO_ENABLED=0 go build -C tools/lint -o ../../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	bin/golangci-lint run

fmt: ## gofmt everything
	gofmt -w $$(git ls-files '*.go')

generate: ## server/store/db from its SQL, committed and checked for drift; sqlc is built from its own module
	go generate ./...

judges: ## install what judges the OpenAPI documents (spectral, prism), then ask them
	npm ci --prefix tools/openapi --ignore-scripts
	CI=1 go test -count=1 -run 'TestSpectral|TestPrism' ./server/api

prism: build ## a partner's session with a running doorlab through prism (run make judges first)
	@ready=$$(mktemp); $(BIN) up --boards 20 --http 127.0.0.1:0 --control "" --mqtt 127.0.0.1:0 --json >$$ready & up=$$!; \
	trap "kill $$up; rm -f $$ready" EXIT; until [ -s $$ready ]; do kill -0 $$up && sleep 0.1 || exit 1; done; \
	node -p 'const r = JSON.parse(fs.readFileSync(process.argv[1])); r.places.slice(0, 2).map(p => r.http + " " + p.apiKey).join("\n")' $$ready | \
	while read -r base key; do node tools/openapi/session.mjs $$base $$key </dev/null || exit 1; done

malformed: ## 1,000,000 requests bent at random against the HTTP edge
	DOORLAB_MALFORMED=1000000 go test -count=1 -v -timeout 60m -run TestMalformed ./server/api

.PHONY: prism malformed judges help build check planted up load test race fuzz bench lint fmt generate
