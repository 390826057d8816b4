# The two commands of the README are `make demo` and `make test`; both set up what they need.

# The version comes from the tag of the commit, through build info. VERSION=1.2.3 names it where there is no repository.
LDFLAGS := -s -w $(if $(VERSION),-X github.com/belay-run/belay/internal/version.linked=$(VERSION))
PREFIX  ?= /usr/local
ROUNDS  ?= 1
KILLS   ?= 8

# As it is released; the race detector needs cgo, and asks for it. One way for all that is built: SQLite takes a minute to compile each way.
export CGO_ENABLED := 0

# What the linker has written through a mapping starts slower than a copy of it (docs/performance.md).
copied = for f in $(1); do cp $$f $$f.copy && mv $$f.copy $$f || exit 1; done

.PHONY: help quick workflows build install uninstall dist demo picture examples reference faults renew test test-full soak check lint unit fuzz cross bench vuln man clean

.DEFAULT_GOAL := build

help: ## what can be made
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1\t\2/p' Makefile | expand -t 14

build: ## bin/belay and its companion, as they are released
	go build -trimpath -buildvcs=auto -ldflags '$(LDFLAGS)' -o bin/ ./cmd/belay ./cmd/belayd
	@$(call copied,bin/belay bin/belayd)

# What is installed beside the executables, from where to where.
share = $(DESTDIR)$(PREFIX)/share
completions = belay.bash:bash-completion/completions/belay _belay:zsh/site-functions/_belay belay.fish:fish/vendor_completions.d/belay.fish

install: build man completions ## both executables, man pages, completions and documents into PREFIX (/usr/local)
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(share)/man/man1'
	install -m 755 bin/belay bin/belayd '$(DESTDIR)$(PREFIX)/bin'
	install -m 644 dist/man/*.1 '$(share)/man/man1'
	@for c in $(completions); do install -D -m 644 dist/completions/$${c%%:*} '$(share)'/$${c#*:} || exit 1; done
	rm -rf '$(share)/doc/belay' && install -d '$(share)/doc/belay' && cp -R README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE docs examples '$(share)/doc/belay'

uninstall: ## takes away what install has put into PREFIX; `belay uninstall-all` first undoes what is in clients' files
	rm -f '$(DESTDIR)$(PREFIX)/bin/belay' '$(DESTDIR)$(PREFIX)/bin/belayd' '$(share)'/man/man1/belay.1 '$(share)'/man/man1/belayd.1 '$(share)'/man/man1/belay-*.1
	@for c in $(completions); do rm -f '$(share)'/$${c#*:}; done
	rm -rf '$(share)/doc/belay'

DIST ?= dist

# PLATFORMS=linux/amd64 makes it for one. VERSION names the version where no tag does.
dist: .tools/nfpm ## archives, packages, checksums and installers of a release in DIST (dist); the same bytes for the same commit
	go run -C tools ./dist -o '$(abspath $(DIST))' -platforms '$(PLATFORMS)' -version '$(VERSION)' -nfpm ../.tools/nfpm

# Without the record, which the demo does not read: SQLite takes longer to compile than all the rest (docs/performance.md).
demo: ## belay at work against an API that fails on purpose: half a minute, after a minute to build
	go build -trimpath -buildvcs=auto -ldflags '$(LDFLAGS)' -tags norecord -o bin/demo/ ./cmd/belay ./cmd/belayd
	@bin/demo/belay demo

picture: build ## the pictures of README and docs, light and dark, from real runs
	scripts/pictures

examples: build ## what commands in README and docs print, from real runs
	@scripts/setup-clis >/dev/null && scripts/setup-gh full >/dev/null
	go run ./scripts/examples

reference: ## the tables of docs/reference.md and docs/record.md, from the code
	go run ./scripts/reference

faults: build ## the README's table of six faults, measured with the real CLIs in about eight minutes
	@scripts/setup-clis >/dev/null
	go run ./scripts/sixfaults -into README.md

renew: reference examples picture faults ## all that documents have from the code and from real runs

# What tests are made of is compiled without what only a debugger reads, which takes a quarter of the compiler's time. Stacks and reports of races need none of it.
quick check lint unit fuzz cross: export GOFLAGS += -gcflags=all=-dwarf=false

# The compiler collects its garbage less often, which takes a fifth of its CPU, and one gigabyte for SQLite instead of 0.7. The tests of make test run without it (scripts/unit).
quick check unit cross: export GOGC = 400

# go vet is in make check: on a fresh machine it reads all dependencies first, which takes a quarter as long as all of this.
quick: ## the tests that need only Go: no agent CLI, no PostgreSQL, no browser, no C compiler
	go run ./scripts/unit -quick

# The tests come last, so that what failed and what it cost ends the output.
test: check $(if $(FULL),cross fuzz) unit ## all that CI runs
	@scripts/tree-is-clean
	@echo "make test: all passed$$(awk '{ printf ", with %.1f minutes of CPU", ($$16 + $$17) / 6000 }' /proc/$$PPID/stat 2>/dev/null)"

test-full: workflows lint ## the same with packages of a release, a hundred times the rounds, guided fuzzing, all scenarios, all platforms, Windows under Wine and older agent CLIs
	@scripts/install lintian rpm shellcheck ruby
	scripts/wine-smoke
	$(MAKE) test ROUNDS=100 KILLS=1000 FULL=1

workflows: .tools/actionlint ## checks the workflows for GitHub Actions
	.tools/actionlint .github/workflows/*.yml examples/github-actions/*.yml

soak: ## attacks for an hour, with counts; PARTS="engine clock" chooses, SEED=n repeats a run, SHARE=10 tries a tenth; see docs/reliability.md
	@scripts/setup-tests
	@SEED='$(SEED)' SHARE='$(or $(SHARE),100)' scripts/soak $(PARTS)

# The race detector watches all but SQLite itself and its C library, which are C made into Go: they have locks and memory of their own, of which the detector
# knows nothing, and watched they take three times the CPU. The packages around them are watched (modernc.org/...=-race=false would leave out all): the linker
# takes one copy of each generic function, and if that is one which is not watched, races are reported where there are none. `go tool nm` of an archive shows
# the copies in it: sqlite/lib has none, libc only those of reflect's types and of the buffer with which a directory is read.
race = -race '-gcflags=modernc.org/sqlite/lib=-dwarf=false -race=false' '-gcflags=modernc.org/libc=-dwarf=false -race=false'

# The checks of all packages with their tests need what these are compiled to. That is what scripts/unit will run, so that nothing is compiled for the checks
# alone.
raced = CGO_ENABLED=1 GOFLAGS="$(GOFLAGS) $(race)"

# go vet compiles all dependencies of a module. Where make test runs nothing of it, types are checked instead, in 2 s of CPU instead of 90.
vetted = $(if $(FULL),go vet -C $(1) ./...,go run -C tools ./typecheck -C ../$(1) $$(go env GOOS)/$$(go env GOARCH))

# What Belay prints goes through internal/term, which knows the streams of a command. These three lines hand the streams over.
printing = ! git grep -nE 'fmt\.Print|os\.Std(out|err)\b' -- cmd internal '*.go' ':!*_test.go' ':!*test/*' ':!internal/e2e' ':!*testdata/*' ':!scripts' ':!tools' ':!bench' ':!examples' ':!browser' | grep -vE 'cmd/belayd?/main.go|func New\(\)|IsTerminal' || { echo 'print with internal/term'; exit 1; }

check:
	@command -v cc >/dev/null || command -v gcc >/dev/null || scripts/install gcc libc6-dev
	@test -z "$$(gofmt -l . | grep -v '^\.tools/')" || { gofmt -l . ; echo 'run: gofmt -w .' ; exit 1; }
	$(raced) go vet ./...
	@$(printing)
	scripts/vet-elsewhere $(if $(FULL),full)
	$(call vetted,bench)
	$(call vetted,tools)
	$(call vetted,browser)

# On a fresh machine it takes three minutes of CPU: it is built, and reads all that Belay is made of. The workflow runs it for each change.
lint: .tools/staticcheck ## what staticcheck finds
	$(raced) .tools/staticcheck ./...

# The race detector needs cgo, and cgo a C compiler; the product itself does not.
unit:
	@scripts/setup-tests $(if $(FULL),full)
	BELAY_TEST_FULL=$(FULL) BELAY_TEST_ROUNDS=$(ROUNDS) BELAY_TEST_KILLS=$(KILLS) go run ./scripts/unit -- $(race)

# Guided by coverage. Tests replay what it has found, and nothing else.
fuzz:
	@scripts/fuzz 20000x

# For the other systems make test checks the types of everything, scripts/vet-elsewhere, in 20 s of CPU; to compile belay alone takes a minute for each,
# nearly all of it the standard library. .github/workflows/test.yml builds and tries both executables on macOS and on Windows.
cross:
	@for platform in darwin/amd64 windows/amd64 linux/arm64 darwin/arm64 windows/arm64; do \
	  echo "build $$platform"; \
	  GOOS=$${platform%/*} GOARCH=$${platform#*/} go build -o /dev/null ./cmd/... || exit 1; \
	done

# The commit that belay run is compared with.
BEFORE ?= 3c01d8a

bench: build ## product and peers, interleaved, as ratios; see docs/performance.md
	@scripts/setup-bench
	cd bench && go build -trimpath -ldflags '-s -w' -o ../bin/ ./bare ./process ./throughput ./library ./breaker ./mcp ./record ./sessions ./shim ./batch ./page ./fleet ./rehearse
	@$(call copied,bin/bare)
	scripts/build-before $(BEFORE) bin/before
	bin/process -bin bin -before bin/before
	bin/library
	bin/breaker
	bin/throughput -bin bin
	bin/mcp -bin bin
	bin/record -bin bin
	bin/sessions -bin bin
	bin/page -bin bin
	bin/batch -bin bin
	bin/rehearse -bin bin
	scripts/setup-postgres >/dev/null
	bin/fleet -bin bin
	scripts/setup-clis >/dev/null
	bin/belay rehearse --script 200 -- bin/shim -rounds 50 -talks -last '"type":"result"' -say '{"type":"user","message":{"role":"user","content":"say hi"},"parent_tool_use_id":null}' \
	  .clis/claude-2.1.325/claude --output-format stream-json --verbose --input-format stream-json 2>/dev/null | grep median
	bin/belay rehearse --script 200 -- bin/shim -rounds 30 -say 'say hi' -last turn.completed .clis/codex-0.166.0/codex exec --experimental-json --sandbox danger-full-access \
	  --skip-git-repo-check 2>/dev/null | grep median

vuln: ## needs the vulnerability database, so it is not part of test
	go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

man: ## man pages in dist/man
	go run -C tools -ldflags '$(LDFLAGS)' ./man -o ../dist/man

.PHONY: completions
completions: ## completions of the shells in dist/completions
	go run -C tools ./completions -o ../dist/completions

.tools/staticcheck: tools/go.mod tools/go.sum
	@mkdir -p .tools
	go build -C tools -o ../.tools/staticcheck honnef.co/go/tools/cmd/staticcheck

.tools/nfpm: tools/nfpm/go.mod
	@mkdir -p .tools
	go build -C tools/nfpm -o ../../.tools/nfpm github.com/goreleaser/nfpm/v2/cmd/nfpm

.tools/actionlint: tools/actionlint/go.mod
	@mkdir -p .tools
	go build -C tools/actionlint -o ../../.tools/actionlint github.com/rhysd/actionlint/cmd/actionlint

clean:
	rm -rf bin dist .tools
