# Two ways to the same image: one static binary on an empty file system.
#
#   docker build -t doorlab .                               everything inside containers; needs a registry for golang
#   make image                                              binary built on this machine; needs no registry
#
# Run it with a read-only root: docker run --read-only --tmpfs /tmp -p 127.0.0.1:8080:8080 doorlab
ARG GO_VERSION=1.26.8

FROM scratch AS base
# nobody's numeric id: there is no /etc/passwd here
USER 65532:65532
EXPOSE 8080 1883 8081
# boards have no public API: they set --url to their control listener
HEALTHCHECK --interval=5s --timeout=4s --start-period=30s --retries=3 \
	CMD ["/doorlab", "wait", "--url", "http://127.0.0.1:8080", "--timeout", "2s"]
ENTRYPOINT ["/doorlab"]
CMD ["up", "--data", "/data", "--http", "0.0.0.0:8080", "--mqtt", "0.0.0.0:1883", "--control", "0.0.0.0:8081", "--link-url", "http://127.0.0.1:8080"]

# make image: bin/image holds the binary and the three directories that it may write.
FROM base AS host
COPY --chown=65532:65532 bin/image /
VOLUME /data

FROM golang:${GO_VERSION}-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN make static

FROM base
COPY --from=build --chown=65532:65532 /src/bin/image /
VOLUME /data
