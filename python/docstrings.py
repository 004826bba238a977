"""Says whether the stub has the docstrings of the native module, where editors read them; with --write, writes them.

It is run by a Python that has leafid.
"""

import ast
import inspect
import pathlib
import sys

import leafid._leafid

STUB = pathlib.Path(__file__).with_name("leafid") / "_leafid.pyi"


def quoted(text: str, indent: int) -> list[str]:
    """A docstring as lines of source."""
    first, *rest = text.splitlines()
    end = ['"""'] if rest else []
    prefix = "r" if "\\" in text else ""
    lines = [f'{prefix}"""{first}' + ("" if rest else '"""'), *rest, *end]
    return [" " * indent + line if line else "" for line in lines]


def edits(nodes: list[ast.stmt], owner: object, indent: int) -> list[tuple[int, int, list[str]]]:
    """The first line, the end and the new lines of each place that has a docstring, or gets one."""
    found = []
    for node in nodes:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name.startswith("_"):
            continue
        native = vars(owner).get(node.name)
        text = getattr(native, "__doc__", None)
        body = node.body[0]
        if text:
            doc = quoted(inspect.cleandoc(text), indent + 4)
            at = min([body.lineno, *(line.lineno for line in getattr(body, "decorator_list", []))]) - 1
            is_expression = isinstance(body, ast.Expr) and isinstance(body.value, ast.Constant)
            if is_expression and isinstance(body.value.value, str):
                found.append((at, body.end_lineno, doc))
            elif is_expression and body.value.value is ...:
                # At the end of the line of the signature.
                found.append((at, at + 1, [None, *doc]))
            else:
                found.append((at, at, doc))
        if isinstance(node, ast.ClassDef) and native is not None:
            found += edits(node.body, native, indent + 4)
    return found


def documented(source: str) -> str:
    """The stub with the docstrings of today."""
    lines = source.splitlines()
    # From the end. Of two at one line the docstring of a class stands before its first method.
    for begin, end, new in sorted(edits(ast.parse(source).body, leafid._leafid, 0), key=lambda edit: edit[:2], reverse=True):
        if new[0] is None:
            new[0] = lines[begin].removesuffix(" ...")
        lines[begin:end] = new
    return "\n".join(lines) + "\n"


before = STUB.read_text()
after = documented(before)
if "--write" in sys.argv:
    STUB.write_text(after)
elif before != after:
    sys.exit("python/leafid/_leafid.pyi has other docstrings than the module: make test OF=python UPDATE=1 writes them")
