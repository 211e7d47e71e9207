"""``docs_example.py FILE``: run a page's Python, show what its last line gives, and hold its comment against it."""

import ast
import re
import sys
from pathlib import Path

name = sys.argv[1]
text = Path(name).read_text(encoding="utf-8")
*statements, last = ast.parse(text, name).body
names: dict = {"__name__": "__main__"}
exec(compile(ast.Module(statements, []), name, "exec"), names)
assert isinstance(last, ast.Expr), f"{name}: the last line shows nothing"
value = eval(compile(ast.Expression(last.value), name, "eval"), names)
print(value)
if said := re.search(r"# (\(.*\) \w+)$", text):
    found = f"{value.shape} {value.dtype}"
    assert found == said[1], f"{name} says {said[1]}; it is {found}"
