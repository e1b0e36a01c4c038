# Thin verbs; each does its own set-up. `make help` lists them.
.DEFAULT_GOAL := help
CARGO ?= cargo
HEADSUP := target/debug/headsup

.PHONY: help setup build demo test test-c test-node test-python test-together lint bench bench-bindings bench-node sim fuzz long soak component plugin-template install install-c clean example-node example-python

help: ## list these verbs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18

setup: ## check the toolchain and add the WASI target
	@scripts/setup

build: setup ## build the component and the command
	$(CARGO) build --workspace

demo: build ## play the stories of tests/scenarios
	@scripts/demo $(HEADSUP)

lint: setup ## format, clippy, rustdoc, links and named tests of the docs, all warnings denied
	@scripts/check-links
	@scripts/check-guarantees
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	@scripts/conformance --lint
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps

test: lint ## every lint and every test
	$(CARGO) test --workspace
	@scripts/test-c
	@scripts/test-python
	@scripts/test-node
	@scripts/test-together

test-c: setup ## the C ABI: from C under sanitizers, its examples, and from ctypes
	@scripts/test-c

bench: setup ## ratios of component, native logic and bare SQL, in one run (release)
	$(CARGO) bench -p headsup-tests

bench-bindings: setup ## a record through each way in, as ratios to the Rust host (release)
	@scripts/bench-bindings

# One long history, to look for what short ones do not find.
SEED ?=
STEPS ?= 20000
sim: setup ## play a random history against the model: SEED=… STEPS=… (20,000)
	HEADSUP_SIM_SEED=$(SEED) HEADSUP_SIM_STEPS=$(STEPS) $(CARGO) test -p headsup-tests --test simulation always_another -- --nocapture

SECONDS ?= 60
fuzz: setup ## mutate the examples of tests/fuzz/corpus: SECONDS=… (60) for each target
	HEADSUP_FUZZ_SECONDS=$(SECONDS) $(CARGO) test -p headsup-tests --test fuzz -- --nocapture --test-threads 1

long: setup ## the long versions of the tests of trust: every fault, 500 kills, standstills of 10 s
	FAULTS=all $(CARGO) test -p headsup-tests --test faults
	CRASHES=500 $(CARGO) test -p headsup-tests --test crashes
	HEADSUP_LONG=1 $(CARGO) test -p headsup-tests --test processes --test damage

soak: setup ## steady load for SECONDS=600: memory, log and file stay flat
	$(CARGO) run -p headsup-tests --example soak

plugin-template: setup ## build the core of bindings/plugin-template, as other hosts load it
	$(CARGO) build --release --locked --target wasm32-wasip2 --target-dir target/tmp/plugins \
	  --manifest-path bindings/plugin-template/Cargo.toml
	@mkdir -p target/guest
	@cp target/tmp/plugins/wasm32-wasip2/release/plugin_template.wasm target/guest/plugin-template.wasm
	@ls -l target/guest/plugin-template.wasm

component: build ## the core, as other hosts load it, and the component that examines hosts
	@scripts/conformance >/dev/null
	@ls -l target/guest/headsup.wasm target/guest/headsup-conformance.wasm

PORT ?= 8080
test-python: build ## types and tests of the Python binding; set up in target/
	@scripts/test-python

test-together: build ## one store for hosts in every language that is set up here
	@scripts/test-together

example-python: build ## a gateway in Python with two sessions, over HTTP: PORT=… (8080)
	@scripts/test-python --set-up
	@PYTHONPATH=bindings/python/src target/python-venv/bin/python bindings/python/examples/gateway.py --port $(PORT)

test-node: build ## the host for Node.js: vectors, types, examination, other processes, its page
	@scripts/test-node

example-node: build ## a gateway in Node.js with two sessions, over HTTP: PORT=… (8080)
	@scripts/example-node examples/gateway.js --port $(PORT)

bench-node: build ## what a call costs in Node.js against bare statements, with a bound
	@scripts/example-node bench/gate.js

install: setup ## install the command for this user and fill its cache
	$(CARGO) install --locked --path host
	headsup plugin inspect --builtin >/dev/null

PREFIX ?= /usr/local
install-c: setup ## install the C library, its header and pkg-config file: PREFIX=… (/usr/local)
	$(CARGO) build --release --workspace
	@scripts/install-c $(PREFIX) target/release

clean: ## remove everything that was built
	$(CARGO) clean
