"""A program with one of its variants only: what a linter reads when CASE is known.

The programs of the study hold all their variants and pick one by the variable CASE of the environment. A tool that reads
source would else see the faults of the others too. Conditions that follow from CASE alone are decided, and what is never
run goes away. What cannot be decided stays as it is.
"""

from __future__ import annotations

import ast
from typing import Any

DECIDABLE = (ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Compare, ast.cmpop, ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop,
             ast.Tuple, ast.List, ast.Set, ast.IfExp)  # fmt: skip


def reads_case(node: ast.AST) -> bool:
    """Is it os.environ["CASE"], os.environ.get("CASE", ..) or os.getenv("CASE")?"""
    keyed = isinstance(node, (ast.Call, ast.Subscript)) and any(isinstance(each, ast.Constant) and each.value == "CASE" for each in ast.walk(node))
    return keyed and "env" in ast.unparse(node)


class Variant(ast.NodeTransformer):
    def __init__(self, tree: ast.Module, case: int) -> None:
        self.case = case
        self.known: dict[str, Any] = {}
        self._learn(tree)

    def _learn(self, tree: ast.Module) -> None:
        """Names that the program gives one value only, at its top level, and that follow from CASE."""
        stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        arguments = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        for node in tree.body:
            if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
                continue
            name = node.targets[0].id
            if stored.count(name) != 1 or name in arguments:
                continue
            if reads_case(node.value):
                is_number = isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) and node.value.func.id == "int"
                self.known[name] = self.case if is_number else str(self.case)
            elif self._decides(node.value):
                self.known[name] = self._value(node.value)

    def _decides(self, node: ast.AST) -> bool:
        """Does it follow from CASE, and not only from constants?"""
        names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
        return bool(names) and all(name in self.known for name in names) and all(isinstance(each, DECIDABLE) for each in ast.walk(node))

    def _value(self, node: ast.AST) -> Any:
        expression = ast.fix_missing_locations(ast.Expression(node))  # type: ignore[arg-type]
        return eval(compile(expression, "variant", "eval"), {"__builtins__": {}}, self.known)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """`CASE == 4 and step > 10`: the part that is decided decides, or goes away."""
        self.generic_visit(node)
        if self._decides(node):
            return node
        decider = isinstance(node.op, ast.Or)
        left = []
        for each in node.values:
            if not self._decides(each):
                left.append(each)
            elif bool(self._value(each)) == decider:
                return ast.Constant(decider)
        return left[0] if len(left) == 1 else ast.BoolOp(node.op, left)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        decided = self._decided(node.test)
        return node if decided is None else node.body if decided else node.orelse

    def visit_If(self, node: ast.If) -> Any:
        was_open = not isinstance(node.test, ast.Constant)
        self.generic_visit(node)
        decided = self._decided(node.test)
        if decided is None or not was_open:
            return node
        return (node.body if decided else node.orelse) or ast.Pass()

    def _decided(self, test: ast.AST) -> bool | None:
        if isinstance(test, ast.Constant):
            return bool(test.value)
        return bool(self._value(test)) if self._decides(test) else None


def variant(source: str, case: int) -> str:
    tree = ast.parse(source)
    return ast.unparse(ast.fix_missing_locations(Variant(tree, case).visit(tree)))
