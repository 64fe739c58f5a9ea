# make help lists the targets.
.DEFAULT_GOAL := help
BIN := bin/doorlab

help: ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

build: ## build bin/doorlab
	go build -o $(BIN) .

test: ## vet and every test, with the race detector
	go vet ./...
	go test -race ./...

race: test ## the same as test

fmt: ## gofmt everything
	gofmt -w $$(git ls-files '*.go')

.PHONY: help build test race fmt
