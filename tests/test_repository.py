"""The repository itself: sizes, words that must not stand in it, names, and where imports lead."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from simulator.shadowing import PACKAGES

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (*PACKAGES, "tests")
GENERATED = ROOT / "simulator" / "protocol"
RECORDED = ROOT / "tests" / "golden"
TEXT_SUFFIXES = {
    "", ".css", ".ini", ".jinja", ".js", ".mako", ".md", ".py", ".sh", ".toml", ".txt", ".yaml",
}  # fmt: skip

MODULE_LINES_MAX = 400
TEST_MODULE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
POSITIONAL_PARAMETERS_MAX = 5

BANNED = {
    # Spelled in two halves, so that this table does not find itself.
    "TO" + "DO": "finish it, or open an issue",
    "FIX" + "ME": "finish it, or open an issue",
    "Not" + "ImplementedError": "leave the name out until it does something",
    "dict[str, " + "Any]": "give the value a type",
    "pragma: " + "no cover": "test it, or remove it",
    "# type: " + "ignore\n": "name the error code",
}
MAPPED = (
    "simulator/core", "simulator/core/persistence", "simulator/engine", "simulator/server",
)  # fmt: skip
BANNED_MODULES = {"util", "utils", "helper", "helpers", "common", "base", "misc"}
URL_HOSTS = {"github.com", "example.com", "127.0.0.1", "localhost"}
URL = re.compile(r"\b(?:https?|git|ssh)://([A-Za-z0-9.-]+)")
FOREIGN_PATH = re.compile(r"(?:^|[^A-Za-z0-9_.])/(?:work|farm|root|tmp|home)/[a-z.]")
# The reason stands behind the code (`noqa: X123 - because`) or in a comment on the line above.
SILENT_NOQA = re.compile(r"#[ ]noqa(?!: [A-Z]+[0-9]+(?:, ?[A-Z]+[0-9]+)*[ #-]+\w)")


@cache
def text_files() -> tuple[Path, ...]:
    """Return every text file that we write, by path."""
    found = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"]
    for folder in (*FOLDERS, ".ci"):
        found += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    return tuple(
        path
        for path in sorted(found)
        if path.suffix in TEXT_SUFFIXES
        and not path.name.startswith(".coverage")
        and "__pycache__" not in path.parts
        and RECORDED not in path.parents
    )


def modules() -> list[Path]:
    """Return every Python module that people write."""
    return [path for path in text_files() if path.suffix == ".py" and GENERATED not in path.parents]


def shown(path: Path) -> str:
    """Return the path as it is called in the repository."""
    return str(path.relative_to(ROOT))


@cache
def source(path: Path) -> str:
    """Return the text of a file."""
    return path.read_text(encoding="utf-8")


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Iterate over the functions and methods of a module."""
    for node in ast.walk(ast.parse(source(path))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_modules_are_short_enough_to_read_in_one_go() -> None:
    too_long = {}
    for path in modules():
        lines = source(path).count("\n")
        tests = ROOT / "tests" in path.parents
        if lines > (TEST_MODULE_LINES_MAX if tests else MODULE_LINES_MAX):
            too_long[shown(path)] = lines

    assert too_long == {}


def test_functions_are_short_enough_to_see_whole() -> None:
    too_long = {}
    for path in modules():
        for function in functions(path):
            lines = (function.end_lineno or 0) - function.lineno + 1
            if lines > FUNCTION_LINES_MAX:
                too_long[f"{shown(path)}:{function.name}"] = lines

    assert too_long == {}


def test_no_function_takes_many_positional_parameters() -> None:
    too_many = {}
    for path in modules():
        if ROOT / "tests" in path.parents:
            continue
        for function in functions(path):
            names = [argument.arg for argument in function.args.posonlyargs + function.args.args]
            count = len([name for name in names if name not in {"self", "cls"}])
            if count > POSITIONAL_PARAMETERS_MAX:
                too_many[f"{shown(path)}:{function.name}"] = count

    assert too_many == {}


@pytest.mark.parametrize("words", BANNED)
def test_banned_words_do_not_stand_anywhere(words: str) -> None:
    found = [shown(path) for path in modules() if words in source(path)]

    assert found == [], BANNED[words]


def test_an_exception_from_the_linter_has_its_reason() -> None:
    found = []
    for path in modules():
        above = ""
        for number, line in enumerate(source(path).splitlines(), 1):
            if SILENT_NOQA.search(line) and not above.lstrip().startswith("#"):
                found.append(f"{shown(path)}:{number}")
            above = line

    assert found == []


def test_no_module_is_named_after_nothing() -> None:
    found = [shown(path) for path in modules() if path.stem in BANNED_MODULES]

    assert found == []


def test_urls_name_no_host_but_the_known_ones() -> None:
    found = {
        f"{shown(path)}: {host}"
        for path in text_files()
        for host in URL.findall(source(path))
        if host not in URL_HOSTS and not host.endswith((".example.com", ".example", ".internal"))
    }

    assert found == set()


def test_no_path_of_one_machine_stands_anywhere() -> None:
    found = [
        f"{shown(path)}:{number}"
        for path in text_files()
        if path != Path(__file__)
        for number, line in enumerate(source(path).splitlines(), 1)
        if FOREIGN_PATH.search(line)
    ]

    assert found == []


@pytest.mark.parametrize("name", FOLDERS)
def test_every_package_resolves_inside_this_checkout(name: str) -> None:
    package = importlib.import_module(name)

    assert package.__file__ is not None
    assert Path(package.__file__).resolve().parent == ROOT / name


def test_a_package_that_re_exports_names_lists_them_in_order() -> None:
    wrong = []
    for path in modules():
        if path.name != "__init__.py":
            continue
        tree = ast.parse(source(path))
        imported = sorted(
            alias.asname or alias.name
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES
            for alias in node.names
        )
        exported: list[str] = next(
            (
                ast.literal_eval(node.value)
                for node in tree.body
                if isinstance(node, ast.Assign)
                and [ast.unparse(target) for target in node.targets] == ["__all__"]
            ),
            [],
        )
        if imported and list(exported) != imported:
            wrong.append(shown(path))

    assert wrong == []


@pytest.mark.parametrize("folder", MAPPED)
def test_the_map_in_a_packages_docstring_names_all_of_it(folder: str) -> None:
    text = ast.get_docstring(ast.parse(source(ROOT / folder / "__init__.py"))) or ""
    named = set(re.findall(r"\w+", text))
    there = {
        path.stem
        for path in (ROOT / folder).iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }

    assert there - named - {"__init__"} == set(), f"name it in {folder}/__init__.py"
