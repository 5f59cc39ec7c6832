# The whole product is one static binary: built here, then copied alone into an
# image without a shell, where it runs as a fixed user that owns nothing.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG VERSION=dev
ARG COMMIT=unknown
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X main.version=${VERSION} -X main.commit=${COMMIT}" \
    -o /out/postonce ./cmd/postonce

FROM gcr.io/distroless/static-debian12:nonroot
ARG VERSION=dev
ARG COMMIT=unknown
LABEL org.opencontainers.image.title="postonce" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}" \
      org.opencontainers.image.licenses="MIT"
COPY --from=build /out/postonce /postonce
USER 65532:65532
EXPOSE 8080 9090
# Ready means: database reachable, schema current, workers running. The start
# period covers migrations.
HEALTHCHECK --interval=15s --timeout=10s --start-period=60s --retries=3 CMD ["/postonce", "health"]
ENTRYPOINT ["/postonce"]
CMD ["serve"]
