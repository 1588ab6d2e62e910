"""What the repository promises beside the code: pins, parameters, import direction, a light command line."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import yaml

from infold.settings import Params

REPOSITORY = Path(__file__).resolve().parents[1]
HEAVY = ("prefect", "dvc", "openai", "instructor", "qdrant_edge", "wordllama", "polars", "pyarrow", "numpy")


def run_python(*arguments: str) -> str:
    """Standard output of a fresh interpreter; its errors are shown when it fails."""
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=REPOSITORY, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_each_test_states_its_promise():
    """Every test has a docstring that says what must hold."""
    silent = [
        f"{path.relative_to(REPOSITORY)}:{node.lineno} {node.name}"
        for path in sorted((REPOSITORY / "tests").rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]
    assert silent == []


def test_pins_name_no_address():
    """Every pin has a version and a hash, and nothing in the file leads to a registry or to a machine."""
    text = (REPOSITORY / "constraints.txt").read_text()
    assert not re.search(r"https?://|index-url|find-links|file:|@ |^-e|\s/\w", text, re.MULTILINE)
    pins = re.split(r"\n(?=[A-Za-z0-9])", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip())
    assert len(pins) > 150
    for pin in pins:
        assert re.match(r"[A-Za-z0-9._-]+==\S+", pin), pin
        assert "--hash=sha256:" in pin, pin


def test_pins_hold_what_pyproject_asks_for():
    """Whoever adds a dependency also pins it (`make pins`); what only a benchmark compares with is not installed."""
    import tomllib

    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    groups = {group: names for group, names in project["optional-dependencies"].items() if group != "bench"}
    asked = [*project["dependencies"], *(name for names in groups.values() for name in names)]
    names = {re.match(r"[A-Za-z0-9._-]+", name).group().lower() for name in asked} - {"infold"}
    pinned = set(re.findall(r"^([A-Za-z0-9._-]+)==", (REPOSITORY / "constraints.txt").read_text(), re.MULTILINE))
    assert names <= {name.lower() for name in pinned}


def test_params_file_is_the_defaults():
    """params.yaml shows every parameter, with its default: it is the reference, and changes nothing by being there."""
    shown = yaml.safe_load((REPOSITORY / "params.yaml").read_text())
    assert shown == Params().model_dump(mode="json")


def test_each_parameter_is_explained():
    """Each line of params.yaml that sets something says in a few words what it is."""
    lines = (REPOSITORY / "params.yaml").read_text().splitlines()
    settings = [line for line in lines if re.match(r"  \w+:", line)]
    assert [line for line in settings if " # " not in line] == []


def test_command_line_loads_nothing_heavy():
    """`infold --help` answers at once: no library that takes long to import is loaded before a command needs it."""
    loaded = run_python("-c", f"import sys, infold.cli.app; print([name for name in {HEAVY!r} if name in sys.modules])")
    assert loaded.strip() == "[]"


def test_direct_runs_load_no_orchestrator():
    """The job runs without Prefect and DVC: nothing below flows and tasks imports them."""
    code = (
        "import importlib, pkgutil, sys, infold\n"
        "for module in pkgutil.walk_packages(infold.__path__, 'infold.'):\n"
        "    importlib.import_module(module.name)\n"
        "print([name for name in ('prefect', 'dvc') if name in sys.modules])"
    )
    assert run_python("-c", code).strip() == "[]"


def test_imports_go_one_way():
    """The layers of the design hold, and each outside library is known where it belongs."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def sources() -> Iterator[tuple[str, ast.Module]]:
    """Each module of the package, flows and tasks: its path below src/infold or the repository, and its syntax."""
    for root in (REPOSITORY / "src" / "infold", REPOSITORY / "flows", REPOSITORY / "tasks"):
        for file in sorted(root.rglob("*.py")):
            base = root if root.name == "infold" else REPOSITORY
            yield file.relative_to(base).as_posix(), ast.parse(file.read_text(encoding="utf-8"))


MOST_SHARED_NAMES = 5  # that types of two modules have; there is none today
MOST_INNER_IMPORTS = 80  # of own packages, in functions: each for the start-up time of a command that does without


def inner_imports(tree: ast.Module) -> set[int]:
    """The lines on which a function imports from this repository."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    imports = (node for function in functions for node in ast.walk(function))
    own = {"infold", "flows", "tasks"}
    return {
        node.lineno
        for node in imports
        if (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in own)
        or (isinstance(node, ast.Import) and node.names[0].name.split(".")[0] in own)
    }


def test_few_functions_import_what_is_ours():
    """What a command need not load is named through `infold.lazy`; an import in a function is the exception."""
    found = {path: lines for path, tree in sources() if (lines := inner_imports(tree))}
    assert sum(map(len, found.values())) <= MOST_INNER_IMPORTS, found


def imports_of(name: str, tree: ast.Module, known: set[str]) -> set[str]:
    """The modules of the repository that one imports anywhere: at its top, in functions, and for types alone."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {
                whole if (whole := f"{node.module}.{alias.name}") in known else node.module for alias in node.names
            }
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & known - {name}


def test_no_module_imports_one_that_imports_it():
    """There is no circle of imports, not even of types or through functions."""
    trees = {}
    for path, tree in sources():
        name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        trees[name if name.startswith(("flows", "tasks")) else f"infold.{name}"] = tree
    graph = {name: imports_of(name, tree, set(trees)) for name, tree in trees.items()}
    TopologicalSorter(graph).prepare()  # raises CycleError, naming the circle


def types_of(tree: ast.Module) -> Iterator[str]:
    """The names of classes, and of types that a module calls by a name of its own."""
    yield from (node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    for node in tree.body:
        named = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(named, ast.Name) and named.id.lstrip("_")[:1].isupper() and not named.id.isupper():
            yield named.id


def test_a_type_is_named_once():
    """One name, one type in the whole repository, so that whoever reads it knows which."""
    places = defaultdict(list)
    for path, tree in sources():
        for name in types_of(tree):
            places[name].append(path)
    one_letter = {name for name in places if len(name.lstrip("_")) == 1}  # type variables
    shared = {name: paths for name, paths in places.items() if len(paths) > 1 and name not in one_letter}
    assert len(shared) <= MOST_SHARED_NAMES, shared


# Who may build a part of a vault beside the front hall, and why.
ASSEMBLERS: dict[str, dict[str, str]] = {
    "open_embedder": {
        "evaluation/trial.py": "the name and the traits of the embeddings of settings without a vault",
        "search/embed/providers/auto.py": "one provider gives what another does",
    },
    "DirectSteps": {},
    "LiveSearch": {},
    "open_docmem": {"cli/docmem_store.py": "a store that is named by its file, of no vault"},
    "Searcher": {
        "evaluation/retrieval/asking.py": "the index of a set of questions, which is no vault's",
        "inbox/steps.py": "opened after a sync of a run, with what that run wrote",
        "search/query/fresh_search.py": "opened after a sync of its own",
    },
    "scorer_of": {},
    "OfflineLibrarian": {"docmem/automatic.py": "summaries that come by themselves ask no model, whatever is set"},
    "model_librarian": {},
    "NavigatorStore": {},
}
FRONT_HALL = {"app.py", "parts.py", "vault_steps.py", "vault_memory.py", "vault_navigator.py"}


def test_only_the_front_hall_puts_parts_together():
    """Embeddings, memory, searches, librarians and steps are built by the opened vault, but for named exceptions."""
    found = {
        f"{path} builds {name}"
        for path, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and not ast.unparse(node.func).startswith(("self.", "vault.", "provider."))
        if (name := ast.unparse(node.func).rpartition(".")[2]) in ASSEMBLERS
        if path not in FRONT_HALL | ASSEMBLERS[name].keys()
    }
    assert found == set()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    run_python("-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    (built,) = folder.glob("*.whl")
    return built


@pytest.mark.slow
def test_wheel_holds_all_that_runs(wheel):
    """The wheel brings flows, tasks, the prompts, the types marker and the demo vault, under the one name `infold`."""
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"infold"}
    for package in ("flows", "tasks"):
        modules = {f"infold/_pipeline/{path.relative_to(REPOSITORY)}" for path in (REPOSITORY / package).glob("*.py")}
        assert modules <= set(names)
    assert {"infold/py.typed", "infold/demo/vault/index.md"} <= set(names)
    prompts = [path.relative_to(REPOSITORY / "src") for path in REPOSITORY.glob("src/infold/librarian/prompts/**/*.md")]
    assert len(prompts) > 10
    assert {path.as_posix() for path in prompts} <= set(names)


@pytest.mark.slow
def test_an_installed_wheel_serves_flows_and_takes_no_common_names(wheel, tmp_path):
    """Installed without network: commands and flows work, and `flows` and `tasks` are free for everybody else."""
    import sysconfig
    import venv

    place = tmp_path / "env"
    venv.create(place, with_pip=True)
    python, infold = place / "bin" / "python", place / "bin" / "infold"

    def run(*command: object) -> str:
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel)
    (site,) = place.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")  # its own .pth files do not count
    free = "import importlib.util as u; print([u.find_spec(name) for name in ('flows', 'tasks')])"
    assert run(python, "-c", free).strip() == "[None, None]"
    assert "Prefect server" in run(infold, "flows", "up", "--help")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "index.md").write_text("# Index\n\nOne note.\n")
    place_of_it = ("--vault", tmp_path / "notes", "--state", tmp_path / "state", "--set", "search.embedding=none")
    assert "nothing" in run(infold, "integrate", *place_of_it).lower()
    imported = "from infold._pipeline import mount; mount(); import flows.integrate as f; print(f.__file__)"
    assert str(site / "infold" / "_pipeline" / "flows") in run(python, "-c", imported)
