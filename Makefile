# The few targets that people use. Everything works with the plain go command too.
.PHONY: demo test fuzz chaos mutants soak lint fmt build

demo: ## the whole product on this machine: http://127.0.0.1:8080
	go run ./cmd/postonce demo

build: ## bin/postonce, stamped with its version
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$$(git describe --tags --always --dirty 2>/dev/null || echo dev) -X main.commit=$$(git rev-parse HEAD 2>/dev/null || echo unknown)" -o bin/postonce ./cmd/postonce

test: ## all tests (needs Postgres installed; browser tests need Chromium and Node.js)
	go test ./...

fuzz: ## an hour of new inputs for every decoder, guided by coverage; FUZZ_SECONDS=10 make fuzz for a short one
	GUIDED=1 .ci/fuzz $${FUZZ_SECONDS:-180}

chaos: ## attacks the whole program; CHAOS_KILLS=5000 CHAOS_SEED=7 make chaos for a long one
	CHAOS_KILLS=$${CHAOS_KILLS:-300} go test ./internal/chaos -run TestChaos -count=1 -timeout 24h -v

mutants: ## breaks the rules of docs/design.md one at a time; each has to be noticed
	CHAOS_MUTANTS=1 go test ./internal/chaos -run TestMutantsAreCaught -count=1 -timeout 2h -v

soak: ## an hour with ten thousand sources; nothing that lives may grow
	SOAK_MINUTES=$${SOAK_MINUTES:-60} go test ./internal/chaos -run TestSoak -count=1 -timeout 24h -v

fmt: ## format as the linter wants it
	go run mvdan.cc/gofumpt@latest -l -w cmd internal migrations

lint: ## the linters of .golangci.yml
	go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run
