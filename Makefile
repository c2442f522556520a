# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# Any Python from 3.11 on makes the environment: `make setup PYTHON=python3.12`.
PYTHON ?=
SUDO := $(shell [ "$$(id -u)" -eq 0 ] || echo sudo)
PODSIM := $(strip $(SUDO) .venv/bin/podsim)
INVENTORY ?= inventories/sim_pod64
PHASES := python tests/tools/phases.py

export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Programs of the environment run whatever Python stands first in the caller's shell.
unexport PYTHONPATH PYTHONHOME
# Output appears when it is written, also through the pipe of phases.py.
export PYTHONUNBUFFERED := 1

##@ The simulated pod

.PHONY: demo
demo: setup ## Start a simulated POD64 and bring it up with playbooks/site.yml
	@$(PHASES) prerequisites pod site
	@echo
	@echo "The pod is running. Look around:"
	@echo "  .venv/bin/ansible-inventory -i $(INVENTORY) --graph"
	@echo "  $(PODSIM) status"
	@echo "  ssh -F build/podsim/ssh_config pod001-poplar1 vipu list partitions"
	@echo "  .venv/bin/ansible-playbook -i $(INVENTORY) playbooks/site.yml    (again: nothing changes)"
	@echo "Change something by hand, and see what a run would put right, as a page with a picture of the rack:"
	@echo "  ssh -F build/podsim/ssh_config pod001-poplar1 ip link set rnic0 mtu 1500"
	@echo "  .venv/bin/ansible-playbook -i $(INVENTORY) playbooks/plan.yml    (then open plan/plan.html)"
	@echo "End it with: make demo-down"

.PHONY: demo-openstack
demo-openstack: setup ## The same with an OpenStack, and what a tenant does in it from the first machine to the last
	@INVENTORY=inventories/sim_openstack OS_CLIENT_CONFIG_FILE=$(CURDIR)/build/podsim/clouds.yaml \
	  $(PHASES) cloud-prerequisites pod site tenant
	@echo
	@echo "The pod and its cloud are running. Look around:"
	@echo "  export OS_CLIENT_CONFIG_FILE=$(CURDIR)/build/podsim/clouds.yaml"
	@echo "  .venv/bin/openstack --os-cloud cloud001 network list"
	@echo "  .venv/bin/ansible-playbook -i inventories/sim_openstack playbooks/site.yml    (again: nothing changes)"
	@echo "End it with: make demo-down"

.PHONY: recording
recording: demo-down prerequisites ## Write into docs/demo.md what a terminal shows of the demo, on a new simulated POD64
	@$(PODSIM) up $(INVENTORY)/pods.yml
	@python tests/tools/recording.py
	@$(PODSIM) down

.PHONY: demo-down
demo-down: setup ## Remove the simulated pod
	@$(PHASES) pod-down

.PHONY: prerequisites
prerequisites: setup ## Install the host packages that the simulated pod needs
	@$(PODSIM) prerequisites --install

.PHONY: cloud-prerequisites
cloud-prerequisites: prerequisites
	@$(PODSIM) prerequisites --install --clouds
	@$(PODSIM) guest-image

.PHONY: pod
pod: setup ## Start the simulated POD64 (or reuse the one that runs)
	@$(PODSIM) up $(INVENTORY)/pods.yml

.PHONY: pod-down
pod-down: setup
	@$(PODSIM) down

.PHONY: site
site: setup ## Run playbooks/site.yml against the simulated POD64
	@ansible-playbook -i $(INVENTORY) playbooks/site.yml

.PHONY: tenant
tenant: setup
	@ansible-playbook -i $(INVENTORY) playbooks/user_data.yml -e vpod=alice -e user_data_directory=$(CURDIR)/build/user-data
	@OS_CLOUD=cloud001-alice bash docs/virtual-machines/tenant.sh alice 16 build/user-data/alice.yml build/podsim/id_ed25519

##@ Development

.PHONY: setup
setup: .venv/ready ## Prepare .venv: tools, the simulated pod's programs, the collection
	@:

.venv/ready: pyproject.toml simulator/pyproject.toml tests/tools/setup.sh $(wildcard tests/tools/locks/*.txt)
	@PYTHON=$(PYTHON) bash tests/tools/setup.sh

.PHONY: format
format: setup ## Put the Python code into its one format
	@ruff check --fix-only --quiet
	@ruff format

.PHONY: generate
generate: setup ## Write the files that are made from others, such as the READMEs of the roles
	@for program in tests/tools/generate_*.py; do PYTHONPATH=.venv/collections python "$$program"; done

.PHONY: lock
lock: setup ## Write the versions and hashes of all packages that follow from pyproject.toml
	@python tests/tools/lock.py

.PHONY: check
check: setup ## Lint, types, unit and property tests: about two minutes
	@$(PHASES) --tests lint types unit

# Minutes in which phases, and pods of the integration tests, have to begin; those that have not are left out and named.
PHASES_WITHIN :=
PODS_WITHIN :=

.PHONY: test
test: setup prerequisites ## Everything that CI runs
# Pods and virtual machines wait now and then, and leave of the processors what the other phases take.
	@$(PHASES) --tests $(addprefix --begin-within=,$(PHASES_WITHIN)) "images integration | lint types unit docs sanity contract acceptance molecule"

.PHONY: lint
lint: setup ## ruff, yamllint, ansible-lint, shellcheck, changelog fragments
	@ruff check --quiet
	@ruff format --check --quiet
	@yamllint --strict .
# With an inventory, its syntax check also sees that every play names a group that exists.
	@ANSIBLE_INVENTORY=$(CURDIR)/$(INVENTORY) ansible-lint
	@antsibull-changelog lint
	@shellcheck .ci/run docs/fleets/*.sh docs/pipelines/*.sh docs/virtual-machines/*.sh tests/tools/*.sh roles/*/files/*.sh

.PHONY: types
types: setup ## mypy, strict
	@mypy

.PHONY: unit
unit: setup ## Unit and property tests
	@python -m pytest --numprocesses 2 tests/unit tests/property

.PHONY: artefact
artefact: setup ## Build the collection's artefact under build/artefact
	@python tests/tools/artefact.py

.PHONY: docs-site
docs-site: setup ## Build the documentation as a site under build/docs-site; links that lead nowhere are errors
	@python tests/tools/docs_site.py

.PHONY: plan-picture
plan-picture: setup ## Make docs/plan.png, the picture of a plan's page, with Chromium
	@PYTHONPATH=.venv/collections:. python tests/tools/plan_picture.py

# Which of gpg's secret keys signs a release.
KEY ?=

.PHONY: release
release: artefact ## Sign the artefact: KEY=release@example.org
	@[ -n "$(KEY)" ] || { echo "make release: say which key signs, KEY=NAME" >&2; exit 1; }
	@python tests/tools/sign_artefact.py build/artefact/ipu-pod-*.tar.gz $(KEY)

.PHONY: docs
docs: artefact docs-site ## Lint the documentation of the artefact's plugins and roles, and build the site
# The ceiling: antsibull-docs copies what git does not ignore, and would find our dependencies in .venv empty.
	@GIT_CEILING_DIRECTORIES=$(CURDIR)/.venv antsibull-docs lint-collection-docs --plugin-docs \
	  --validate-collection-refs dependent --disallow-unknown-collection-refs build/artefact/collections/ansible_collections/ipu/pod

.PHONY: sanity
sanity: artefact ## ansible-test sanity on the artefact
	@python tests/tools/sanity.py

.PHONY: contract
contract: setup ## Clients against the simulator; roles and playbooks that need no pod
# Some of its tests need the images of the simulated machines; without root or podman they say so.
	@[ "$$(id -u)" -ne 0 ] || ! command -v podman >/dev/null || { podsim image && podsim image inventories/sim_slurm/pods.yml; }
# They wait more than they work: three at a time keep two processors busy.
	@python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder tests/contract tests/roles_and_playbooks

.PHONY: images
images: setup ## Build the images of simulated machines, and what a cloud needs on this host; they are kept
	@$(PODSIM) image
	@$(PODSIM) image inventories/sim_slurm/pods.yml
	@$(PODSIM) image inventories/sim_openstack/pods.yml
	@$(PODSIM) image inventories/sim_vpods/pods.yml
	@$(PODSIM) image inventories/sim_backend_ai/pods.yml
	@$(strip $(SUDO) .venv/bin/python) tests/tools/execution_environment.py >/dev/null
	@$(PODSIM) prerequisites --install --clouds >/dev/null
	@$(PODSIM) guest-image >/dev/null

.PHONY: integration
integration: images ## The playbooks on simulated pods, two at a time, each as on a machine of its own
	@python -m pytest --verbose --tx '2*popen//python=tests/tools/machine_of_its_own.sh' --dist loadscope --no-loadscope-reorder $(addprefix --begin-within=,$(PODS_WITHIN)) tests/integration

SCENARIOS := $(patsubst molecule/%/molecule.yml,molecule-%,$(wildcard molecule/*/molecule.yml))

.PHONY: molecule $(SCENARIOS)
molecule: setup ## Scenarios on simulated pods, two at a time, each as on a machine of its own
	@$(PODSIM) image
	@$(PODSIM) image inventories/sim_slurm/pods.yml
	@$(PODSIM) image inventories/sim_vpods/pods.yml
	@$(MAKE) --jobs 2 --output-sync --keep-going $(SCENARIOS)

# One of them: `make molecule-secure`.
$(SCENARIOS): molecule-%: setup
	@bash tests/tools/machine_of_its_own.sh .venv/bin/molecule --base-config molecule/config.yml \
	  test --no-command-borders --scenario-name $*

# How many seeds, or which: SEEDS=17-17 is one of them.
SEEDS := 200

.PHONY: chaos
chaos: setup ## Something breaks in the middle of random changes of simulated pods, SEEDS=200 times
	@$(PODSIM) image
	@CHAOS_SEEDS=$(SEEDS) python -m pytest --verbose --tx '2*popen//python=tests/tools/machine_of_its_own.sh' --dist loadscope --no-loadscope-reorder tests/integration/chaos

.PHONY: acceptance
acceptance: prerequisites ## 802.1Q, bonds, RoCE and undone changes on real kernels, in two virtual machines
# It installs QEMU itself, so that it can say where that is impossible.
	@python -m pytest tests/acceptance

.PHONY: bench
bench: setup ## Benchmarks: a table, and build/bench.json
	@python tests/tools/bench.py

.PHONY: help
help: ## This list
	@awk -F ':.*## ' '/^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
