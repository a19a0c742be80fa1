"""The examples of docs/scripting.md that need numpy only print what the page shows."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs/scripting.md").read_text("utf-8")
EXAMPLES = [
    (code, output)
    for code, output in re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", PAGE, re.DOTALL)
    if "import bpy" not in code
]


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) > 3


@pytest.mark.parametrize(("code", "output"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_examples_print_what_the_page_shows(code, output, capsys) -> None:
    exec(compile(code, "example", "exec"), {})
    assert capsys.readouterr().out == output
