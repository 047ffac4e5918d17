"""Installation rules on the product's modules, read from their syntax trees."""

from __future__ import annotations

import ast
import re

from tests.repository.sources import Module, modules

# A name that says nothing about what is inside draws everything inside.
WELLS = frozenset(
    word + ending
    for word in ("service", "manager", "helper", "util", "common")
    for ending in ("", "s")
)
# Operations get a transaction and never end it: only these packages may.
MAY_COMMIT = ("sql/", "api/", "cli/", "engine/worker.py")
EMPTY_PACKAGE = 0


def test_every_module_opens_by_saying_what_it_is_for() -> None:
    silent = [m.name for m in modules() if not _speaks(m)]
    assert not silent, f"write 2 to 8 lines: mission, mechanism, honest limit: {silent}"


def test_no_module_is_named_after_nothing() -> None:
    wells = [m.name for m in modules() if WELLS & set(re.split(r"[/_.]", m.name))]
    assert not wells, f"name the file by the verb that the user says: {wells}"


def test_only_the_edges_commit() -> None:
    found = [
        f"{m.name}:{node.lineno}"
        for m in modules()
        if not m.name.startswith(MAY_COMMIT)
        for node in ast.walk(m.tree)
        if isinstance(node, ast.Call) and _method(node) == "commit"
    ]
    assert not found, f"run the operation through sql, which commits: {found}"


def test_no_failure_is_swallowed() -> None:
    found = [
        f"{m.name}:{node.lineno}"
        for m in modules()
        for node in ast.walk(m.tree)
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type) and _is_idle(node.body)
    ]
    assert not found, f"name the exception, or say what happened: {found}"


def _speaks(module: Module) -> bool:
    if len(module.tree.body) == EMPTY_PACKAGE and module.path.name == "__init__.py":
        return False
    first = ast.get_docstring(module.tree) or ""
    return len(first.split()) >= 4 and bool(re.search(r"[.?!:]", first))


def _method(call: ast.Call) -> str | None:
    return call.func.attr if isinstance(call.func, ast.Attribute) else None


def _is_broad(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(_is_broad(each) for each in caught.elts)
    return caught is None or (
        isinstance(caught, ast.Name) and caught.id in {"Exception", "BaseException"}
    )


def _is_idle(body: list[ast.stmt]) -> bool:
    return all(
        isinstance(statement, ast.Pass | ast.Continue)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in body
    )
