# Two commands: `make demo` draws the figure that made BFC's case, `make test` runs every test.
# Both set up the project's own environment in .venv and build what is missing.

PYTHON ?= python3
comma := ,
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name '*.toml' | grep -v /target/) Cargo.toml Cargo.lock
DATA := $(wildcard crates/xoff-workload/flow-sizes/*.csv)
BPF_OBJECTS := $(wildcard crates/xoff-agent/bpf/*.o)
# `xoff agent` has eBPF where the libraries that load it are installed, with their headers.
HAS_BPF := $(shell pkg-config --exists libelf zlib 2> /dev/null && echo yes)

.PHONY: test demo docs declared pages lint fuzz mutants miri test-rust test-loom test-python test-builds test-torture test-crashes test-instructions coverage wheel-pgo clean help

test: lint docs test-rust test-loom test-python test-torture test-instructions ## run every linter and test

demo: .venv/built ## draw the figure that made BFC's case, in out/demo
	.venv/bin/xoff reproduce bfc/fig10 --scale quick --out out/demo

lint: .venv/built ## rustfmt, clippy, ruff and mypy
	cargo fmt --all --check
ifdef HAS_BPF
	cargo clippy --workspace --all-targets --all-features -- -D warnings
else
	cargo clippy --workspace --all-targets --features xoff-python/extension-module -- -D warnings
endif
	.venv/bin/ruff check python bench docs/site docs/notebooks
	.venv/bin/ruff format --check python bench docs/site docs/notebooks
	.venv/bin/mypy
	.venv/bin/mypy docs/notebooks/*.py
	.venv/bin/mypy bench/instructions.py
	.venv/bin/mypy bench/coverage.py
	.venv/bin/mypy bench/peers/ns3/compare.py

# Writes the files that are made from declarations of settings, parts, tables and summary keys.
declared: .venv/built ## documentation and Python types that are made from declarations
	XOFF_UPDATE_DECLARED=1 cargo test -p xoff-run --test it generated
	XOFF_UPDATE_DECLARED=1 .venv/bin/pytest -q python/tests/test_declared.py -k settings
	XOFF_UPDATE_DECLARED=1 cargo test -p xoff-control --test it golden

# Pictures are drawn when experiments run.
pages: .venv/built ## texts that show recorded results, from papers/*/results.json
	.venv/bin/python -c "import pathlib, xoff.overview as o; o.update(pathlib.Path('.'))"

test-rust: ## tests of the engine
	cargo test --workspace $(if $(HAS_BPF),--features xoff-agent/bpf)

# A build of its own, as loom replaces the primitives of std.
test-loom: ## barrier and mailboxes under a model checker
	RUSTFLAGS="--cfg loom" cargo test -p xoff-core --release --test loom --target-dir target/loom

# On all cores: many tests wait for processes that they start.
test-python: .venv/built ## tests of the Python package
	.venv/bin/pytest -n auto --dist loadfile python/tests

# Warnings are errors: dead links in pages and in Rust, annotations that cannot be resolved in Python.
docs: .venv/built ## documentation site, with the reference of crates and Python package, in out/docs
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet --strict
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items
	mkdir -p out/docs/api
	cp -r target/doc out/docs/api/rust
	.venv/bin/python -W error -W "ignore:Cannot determine where" -m pdoc xoff xoff.declared xoff.plots -o out/docs/api/python

# Not part of `make test`: each builds an engine, and both together take longer than all other tests of Python.
test-builds: .venv/built ## patches of examples/ and crates of new schemes with their tests, bugs planted for `xoff torture`
	XOFF_TEST_BUILDS=1 .venv/bin/pytest python/tests/test_examples.py python/tests/test_planted.py python/tests/test_planted_invariants.py python/tests/test_new_scheme.py

# More of them: `xoff torture --minutes 60`.
test-torture: .venv/built ## two minutes of random worlds, in several cuts and on several threads
	.venv/bin/xoff torture --minutes 2 --seed 1 --out out/torture

# A small form of both is among the tests of Python.
test-crashes: .venv/built ## faults at every file operation, and 500 kills at random times
	XOFF_EVERY_FAULT=1 .venv/bin/pytest python/tests/test_crashes.py
	.venv/bin/python python/tests/crashes.py --kills 500

# A minute for each target. cargo-fuzz follows the coverage, and needs a nightly compiler.
SECONDS ?= 60
TARGETS ?=
fuzz: ## changed seeds for every reader, findings in out/fuzz
ifneq ($(shell command -v cargo-fuzz),)
	cargo build --quiet --profile fuzz -p xoff-fuzz
	for target in $(or $(TARGETS),$$(cargo run --quiet --profile fuzz -p xoff-fuzz -- --list)); do \
		mkdir -p out/fuzz/corpus/$$target && \
		XOFF_FUZZ=$$target cargo +nightly fuzz run --fuzz-dir crates/xoff-fuzz/fuzz reader \
			$(CURDIR)/out/fuzz/corpus/$$target $(CURDIR)/crates/xoff-fuzz/seeds/$$target \
			-- -max_total_time=$(SECONDS) || exit 1; \
	done
else
	cargo run --profile fuzz -p xoff-fuzz -- --seconds $(SECONDS) $(TARGETS)
endif

# Each of the 53 samples has one in 53 mutants of the files in .cargo/mutants.toml, about 100.
SAMPLE ?= 0/53
mutants: ## share of changes of algorithms that tests find, in out/mutants.out
	@command -v cargo-mutants > /dev/null || { echo "error: cargo-mutants is missing: cargo install cargo-mutants"; exit 1; }
	cargo mutants --shard $(SAMPLE) --sharding round-robin --output out

# Miri interprets the code and finds uses of memory that the language does not allow. Eight minutes.
miri: ## tests of unsafe code that hands tables to Python, under Miri
	@rustup component list --installed --toolchain nightly | grep -q miri || { echo "error: Miri is missing: rustup toolchain install nightly --component miri,rust-src"; exit 1; }
	MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test -p xoff-python --lib arrow --target-dir target/miri

# Skipped where valgrind is missing, unless INSTRUCTIONS=--required.
test-instructions: ## instructions per packet-hop against their ceilings
	$(PYTHON) bench/instructions.py $(INSTRUCTIONS)

# Not part of `make test`: it builds everything once more, instrumented.
coverage: .venv/built ## share of the lines that the tests run, Rust and Python, in out/coverage
	@command -v cargo-llvm-cov > /dev/null || { echo "error: cargo-llvm-cov is missing: cargo install cargo-llvm-cov; rustup component add llvm-tools"; exit 1; }
	mkdir -p out/coverage
	cargo llvm-cov --workspace $(if $(HAS_BPF),--features xoff-agent/bpf) --json --summary-only --output-path out/coverage/rust.json
	.venv/bin/coverage run -m pytest -n auto --dist loadfile python/tests
	.venv/bin/coverage combine --quiet
	.venv/bin/coverage json --quiet -o out/coverage/python.json
	$(PYTHON) bench/coverage.py out/coverage

# Two builds, and a run of the first one. maturin asks for llvm-profdata only after that run.
wheel-pgo: .venv/bin/uv ## a wheel compiled with a profile of benchmark cases, in out/wheels
	@test -x "$$(rustc --print sysroot)/lib/rustlib/$$(rustc -vV | sed -n 's/host: //p')/bin/llvm-profdata" || { echo "error: llvm-profdata is missing: rustup component add llvm-tools"; exit 1; }
	.venv/bin/uv tool run --from 'maturin>=1.13,<2' maturin build --release --locked --pgo --interpreter $(PYTHON) --out out/wheels

# uv installs in seconds where pip takes minutes.
.venv/bin/uv:
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet uv

# With line tables for profilers and backtraces, which wheels do without.
.venv/built: .venv/bin/uv pyproject.toml $(RUST_SOURCES) $(DATA) $(BPF_OBJECTS)
	MATURIN_STRIP=false MATURIN_PEP517_ARGS="--features extension-module$(if $(HAS_BPF),$(comma)bpf)" VIRTUAL_ENV=$(CURDIR)/.venv .venv/bin/uv pip install --quiet --reinstall-package xoff --editable '.[dev]'
	touch $@

clean: ## delete what the targets above have made
	rm -rf target .venv out

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-20s%s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
