"""Wrong edits of a source file, made by rule: what a catalogue written by hand may have overlooked.

Each edit changes one expression or leaves out one statement. Edits that change no value (texts,
types, shapes of messages) are not made; some of the others still change nothing that anyone could
notice, which is why a survivor is looked at, not counted as a fault.
"""

import ast
import copy
from collections.abc import Iterator
from typing import NamedTuple

_OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_COMPARISONS = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


class Edit(NamedTuple):
    """A line, what is done there, and the whole file with the edit."""

    line: int
    kind: str
    old: str
    new: str
    text: str


def edits(source: str) -> list[Edit]:
    """Return all edits of a file, in the order of its lines."""
    tree = ast.parse(source)
    found = [e for node in _nodes_that_compute(tree) for e in _edits_of(node, source)]
    return sorted(found, key=lambda e: (e.line, e.kind, e.new))


def _nodes_that_compute(tree: ast.Module) -> Iterator[ast.AST]:
    """Walk through functions, leaving out docstrings, annotations, errors and messages."""
    waiting: list[ast.AST] = [f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)]
    seen = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr, ast.arguments)):
            continue
        if isinstance(node, ast.AnnAssign):
            waiting += [node.value] if node.value else []
            yield node
            continue
        if isinstance(node, ast.FunctionDef):
            waiting += node.body
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        yield node
        waiting += list(ast.iter_child_nodes(node))


def _edits_of(node: ast.AST, source: str) -> Iterator[Edit]:
    for kind, other in _variants(node):
        old = ast.get_source_segment(source, node)
        if old is None:
            continue
        new = ast.unparse(other)
        if isinstance(node, ast.expr):
            new = f"({new})"
        text = _replaced(source, node, new)
        try:
            ast.parse(text)
        except SyntaxError:
            continue
        yield Edit(node.lineno, kind, " ".join(old.split()), " ".join(new.split()), text)


def _variants(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield wrong versions of a node."""
    other = copy.deepcopy(node)
    match other:
        case ast.BinOp(op=op) if type(op) in _OPERATORS and not _is_text(other):
            other.op = _OPERATORS[type(op)]()
            yield "operator", other
        case ast.AugAssign(op=op) if type(op) in _OPERATORS:
            yield "statement", ast.Pass()
            other.op = _OPERATORS[type(op)]()
            yield "operator", other
        case ast.Compare(ops=[op]) if type(op) in _COMPARISONS:
            other.ops = [_COMPARISONS[type(op)]()]
            yield "comparison", other
        case ast.BoolOp(op=op):
            other.op = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield "comparison", other
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield "sign", operand
        case ast.Constant(value=bool() as value):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield "constant", ast.Constant(value + 1)
        case ast.Constant(value=float() as value):
            yield "constant", ast.Constant(value * 1.05 if value else 0.05)
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            yield "statement", ast.Pass()
        case ast.Expr(value=ast.Call()):
            yield "statement", ast.Pass()
        case ast.Call(func=ast.Name(id="max" | "min" as name)):
            other.func = ast.Name("min" if name == "max" else "max")
            yield "operator", other


def _is_text(node: ast.BinOp) -> bool:
    return any(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in ast.walk(node))


def _replaced(source: str, node: ast.AST, new: str) -> str:
    """Return the source with the text of a node replaced; columns are counted in bytes."""
    lines = [line.encode() for line in source.splitlines(keepends=True)]
    first, last = node.lineno - 1, node.end_lineno - 1
    head = b"".join(lines[:first]) + lines[first][: node.col_offset]
    tail = lines[last][node.end_col_offset :] + b"".join(lines[last + 1 :])
    return (head + new.encode() + tail).decode()
