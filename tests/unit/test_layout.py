# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of the layout: what must be documented, and who may import whom."""

from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "plugins"
MODULES = sorted((PLUGINS / "modules").glob("*.py"))
ACTIONS = sorted((PLUGINS / "action").glob("*.py"))
CALLBACKS = sorted((PLUGINS / "callback").glob("*.py"))
FILTERS = sorted((PLUGINS / "filter").glob("*.py"))
ROLES = sorted(path for path in (ROOT / "roles").glob("*") if path.is_dir())
PLAYBOOKS = sorted([*(ROOT / "playbooks").glob("*.yml"), *(ROOT / "playbooks" / "phases").glob("*.yml")])
YAML_FILES = sorted([*(ROOT / "playbooks").rglob("*.yml"), *(ROOT / "roles").glob("*/tasks/*.yml")])
ERRORS = ("ignore_errors", "any_errors_fatal", "ignore_unreachable")
PLUGIN_FILES = sorted(PLUGINS.rglob("*.py"))
SIMULATOR_FILES = sorted((ROOT / "simulator").rglob("*.py"))
# The name of a tree of modules to its folder.
TREES = {"ansible_collections.ipu.pod.plugins": PLUGINS, "podsim": ROOT / "simulator" / "podsim"}
# These parts decide and never do.
PURE = (
    *("_pod", "_inventory", "_declaration", "_desired", "_placement", "_vpods", "_adoption", "_plan", "_link_checks"),
    *("_decision", "_host_resources", "_drift", "_plan_page", "_reports", "_anonymous", "_tried"),
)
PURE_FILES = sorted(path for part in PURE for path in PLUGINS.glob(f"*_utils/{part}/**/*.py"))
ROOMS = sorted(path for path in PLUGINS.glob("*_utils/*") if (path / "__init__.py").exists())
IMPURE = {"ansible", "asyncio", "http", "os", "pathlib", "requests", "shutil", "socket", "subprocess", "urllib"}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported(path: Path) -> set[str]:
    """Return the top-level names of the absolute imports of a Python file."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add((node.module or "").partition(".")[0])
    return names


def calls(path: Path) -> set[str]:
    """Return the plain names that a Python file calls."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


def constants(path: Path) -> dict[str, str]:
    """Return the string constants that a Python file assigns at its top level."""
    return {
        target.id: node.value.value
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def plugin(path: Path) -> Any:
    return import_module(f"ansible_collections.ipu.pod.plugins.{path.parent.name}.{path.stem}")


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_module_documents_itself(path: Path) -> None:
    documented = constants(path)
    assert {"DOCUMENTATION", "EXAMPLES", "RETURN"} <= documented.keys()
    assert yaml.safe_load(documented["DOCUMENTATION"])["module"] == path.stem


@pytest.mark.parametrize("path", ACTIONS, ids=name)
def test_action_plugin_is_documented_by_the_module_of_its_name(path: Path) -> None:
    documented = yaml.safe_load(constants(PLUGINS / "modules" / path.name)["DOCUMENTATION"]).get("options", {})
    taken = getattr(plugin(path), "OPTIONS", None)
    if taken is not None:
        assert arguments(documented) == taken


def arguments(documented: dict[str, Any]) -> dict[str, Any]:
    """The options of a documentation as a plugin declares them."""
    facts = ("type", "elements", "choices", "default", "required")
    return {
        option: {
            **{fact: spec[fact] for fact in facts if fact in spec},
            **({"options": arguments(spec["suboptions"])} if "suboptions" in spec else {}),
        }
        for option, spec in documented.items()
    }


@pytest.mark.parametrize("path", CALLBACKS, ids=name)
def test_callback_documents_itself(path: Path) -> None:
    documentation = yaml.safe_load(constants(path)["DOCUMENTATION"])
    assert (documentation["name"], documentation["type"]) == (path.stem, plugin(path).CallbackModule.CALLBACK_TYPE)


def test_each_filter_has_a_file_that_documents_it_and_no_file_is_left_over() -> None:
    filters = {each for path in FILTERS for each in plugin(path).FilterModule().filters()}
    documents = {path.stem: load(path)["DOCUMENTATION"] for path in (PLUGINS / "filter").glob("*.yml")}
    assert documents.keys() == filters
    assert {each: document["name"] for each, document in documents.items()} == {each: each for each in filters}


def included(tasks: Any) -> set[str]:
    """Return the task files that a role's tasks include or import, at any depth of blocks."""
    if isinstance(tasks, list):
        return {file for task in tasks for file in included(task)}
    if not isinstance(tasks, dict):
        return set()
    files: set[str] = set()
    for key, value in tasks.items():
        if key.rpartition(".")[2] in {"include_tasks", "import_tasks"}:
            files.add(value["file"] if isinstance(value, dict) else value)
        else:
            files |= included(value)
    return files


@pytest.mark.parametrize("role", ROLES, ids=name)
def test_role_has_argument_specs_for_every_entry_point(role: Path) -> None:
    """A file of tasks/ that no other one includes is an entry point."""
    files = sorted((role / "tasks").glob("*.yml"))
    inner = {file for path in files for file in included(load(path))}
    entry_points = {path.stem for path in files if path.name not in inner}
    assert load(role / "meta" / "argument_specs.yml")["argument_specs"].keys() == entry_points | {"main"}


@pytest.mark.parametrize("role", ROLES, ids=name)
def test_role_defaults_are_options_of_its_entry_points(role: Path) -> None:
    defaults = role / "defaults" / "main.yml"
    names = set(load(defaults) or {}) if defaults.exists() else set()
    specs = load(role / "meta" / "argument_specs.yml")["argument_specs"].values()
    assert names <= {option for spec in specs for option in spec.get("options", {})}


@pytest.mark.parametrize("folder", ["module_utils", "doc_fragments", "plugin_utils"])
def test_helpers_are_private(folder: str) -> None:
    public = [name(path) for path in (PLUGINS / folder).glob("*") if not path.name.startswith("_")]
    assert public == []


def test_action_group_holds_the_vipu_modules() -> None:
    """V-IPU modules share their connection options, so module_defaults can set them once."""
    group = load(ROOT / "meta" / "runtime.yml")["action_groups"]["vipu"]
    assert group == sorted(path.stem for path in MODULES if path.stem.startswith("vipu_"))


@pytest.mark.parametrize("path", PLUGIN_FILES, ids=name)
def test_collection_does_not_import_the_simulator(path: Path) -> None:
    assert "podsim" not in imported(path)


@pytest.mark.parametrize("path", SIMULATOR_FILES, ids=name)
def test_simulator_does_not_import_the_collection(path: Path) -> None:
    assert imported(path).isdisjoint({"ansible", "ansible_collections"})


@pytest.mark.parametrize("path", PURE_FILES, ids=name)
def test_pure_parts_know_no_ansible_and_do_no_io(path: Path) -> None:
    assert imported(path).isdisjoint(IMPURE)
    assert calls(path).isdisjoint({"open", "print", "input", "exec", "eval"})


@pytest.mark.parametrize("room", [path for path in ROOMS if path.parent.name == "plugin_utils"], ids=name)
def test_room_says_what_is_in_it_and_which_file_to_open(room: Path) -> None:
    read_me = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    named = re.findall(r"``(\w+)(?:\.py)?``", read_me)
    assert named
    assert [file for file in named if not (room / f"{file}.py").exists()] == []


def siblings(package: Path) -> set[str]:
    """Return the other packages of its folder that a package imports."""
    return {
        (node.module or "").partition(".")[0]
        for path in package.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level == 2
    }


@pytest.mark.parametrize("path", sorted((PLUGINS / "module_utils").rglob("*.py")), ids=name)
def test_devices_get_nothing_of_the_control_node(path: Path) -> None:
    assert "plugin_utils" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", ["module_utils", "plugin_utils"])
def test_packages_depend_one_way(folder: str) -> None:
    packages = [path for path in ROOMS if path.parent.name == folder]
    # Raises CycleError, which names the packages of a circle.
    order = list(TopologicalSorter({package.name: siblings(package) for package in packages}).static_order())
    assert set(order) == {package.name for package in packages}


def imported_modules(path: Path, tree: str) -> set[str]:
    """Return the absolute names of all that a file of a tree imports, and of what these are imported from."""
    package = [*tree.split("."), *path.relative_to(TREES[tree]).parent.parts]
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            names |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return names


@pytest.mark.parametrize("tree", TREES)
def test_modules_import_each_other_one_way(tree: str) -> None:
    """Imports for types alone count, too."""
    files = {
        ".".join([tree, *path.relative_to(TREES[tree]).with_suffix("").parts]).removesuffix(".__init__"): path
        for path in TREES[tree].rglob("*.py")
    }
    imports = {module: imported_modules(path, tree) & files.keys() - {module} for module, path in files.items()}
    # Raises CycleError, which names the modules of a circle.
    assert set(TopologicalSorter(imports).static_order()) == files.keys()
    assert any(imports.values())


def test_files_are_put_in_place_and_locked_by_one_file_each() -> None:
    """Any other write would not be synced, and a lock of another kind would not exclude this one."""
    files = sorted((PLUGINS / "module_utils").rglob("*.py"))
    texts = {str(path.relative_to(PLUGINS / "module_utils")): path.read_text(encoding="utf-8") for path in files}
    assert [path for path, text in texts.items() if "os.replace(" in text or "mkstemp" in text] == ["_host/atomic.py"]
    assert [path for path, text in texts.items() if "import fcntl" in text] == ["_host/lock.py"]


@pytest.mark.parametrize("path", PLAYBOOKS, ids=name)
def test_a_play_that_errors_stop_stops_the_run_for_a_lost_host_too(path: Path) -> None:
    """With any_errors_fatal Ansible counts a host that is lost twice, and goes on."""
    stopping = [play for play in load(path) if "any_errors_fatal" in play or "max_fail_percentage" in play]
    assert all((play.get("any_errors_fatal"), play.get("max_fail_percentage")) == (True, 0) for play in stopping)


@pytest.mark.parametrize("path", PLAYBOOKS, ids=name)
def test_each_batch_of_a_play_begins_with_the_gate(path: Path) -> None:
    first = [play["pre_tasks"][0]["ansible.builtin.import_tasks"] for play in load(path) if "serial" in play]
    assert {Path(file).name for file in first} <= {"gate.yml"}


def test_nothing_is_ignored() -> None:
    assert list((ROOT / "tests").rglob("ignore-*.txt")) == []


@pytest.mark.parametrize("path", YAML_FILES, ids=name)
def test_whether_errors_end_a_run_does_not_depend_on_a_template(path: Path) -> None:
    """Ansible reads these keywords before it has a value for them, and takes any text for a yes."""
    if found := templated(load(path)):
        pytest.fail(f"{found[0]}: write it out, as `apply:` of an include_role that has a `when`")


def templated(document: Any) -> list[str]:
    """Return the keywords about errors that are a template, wherever they are in a document."""
    if isinstance(document, list):
        return [found for part in document for found in templated(part)]
    if not isinstance(document, dict):
        return []
    own = [f"{word}: {document[word]}" for word in ERRORS if isinstance(document.get(word), str)]
    return own + [found for part in document.values() for found in templated(part)]


# Playbooks that take, renew or give back locks, or only look.
WITHOUT_CHANGES = (
    "hold",
    "lock",
    "again",
    "release",
    "unlock",
    "look",
    "backend_ai_look",
    "slurm_look",
    "verify",
    "report",
)
LOOKING = {"ipu.pod.server_use", "ansible.builtin.assert"}
RENEWAL = {"name": "ipu.pod.pod_lock", "tasks_from": "renew"}


def plays_of(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """The plays of a playbook in their order, each with the name of its file."""
    found: list[tuple[str, dict[str, Any]]] = []
    for play in load(path):
        imported_ = play.get("ansible.builtin.import_playbook")
        found += plays_of(path.parent / imported_) if imported_ else [(path.stem, play)]
    return found


def under_locks(path: Path) -> list[dict[str, Any]]:
    """The plays of a playbook that change something while it has the locks."""
    is_locked, found = False, []
    for file, play in plays_of(path):
        is_locked = (is_locked or file in ("hold", "lock")) and file not in ("release", "unlock")
        looks_only = all(not {key for key in task if "." in key} - LOOKING for task in play.get("tasks", []))
        if is_locked and file not in WITHOUT_CHANGES and not looks_only:
            found.append(play)
    return found


@pytest.mark.parametrize("path", sorted((ROOT / "playbooks").glob("*.yml")), ids=name)
def test_who_changes_something_under_a_lock_checks_it_before(path: Path) -> None:
    takes = [file for file, _play in plays_of(path) if file in ("hold", "lock")]
    plays = under_locks(path)
    assert bool(takes) == bool(plays)
    for play in plays:
        assert RENEWAL in [task.get("ansible.builtin.include_role") for task in play.get("pre_tasks", [])], play["name"]


@pytest.mark.parametrize("path", sorted((ROOT / "inventories").glob("*/group_vars")), ids=name)
def test_the_variables_of_an_inventory_are_mappings_also_where_they_are_links(path: Path) -> None:
    files = sorted(path.rglob("*.yml"))
    assert files, "a link that became a file?"
    assert [name(file) for file in files if not isinstance(yaml.safe_load(file.read_text()), dict)] == []
