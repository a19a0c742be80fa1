"""A plain run of the randomized tests tries the same examples each time, whatever else is loaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from attack import NAME

TESTS = Path(__file__).resolve().parent
EXAMPLES = """
import sys
sys.path[:0] = [{tests!r}, {root!r}]
import attack
{loads}
from hypothesis import given, strategies as st
attack.load_profile()
@given(st.integers(), st.floats(), st.text(), st.sets(st.sampled_from("abcdefg")))
def example(whole, number, text, letters):
    print(whole, number, ascii(text), sorted(letters))
example()
"""


def examples(path: Path, loads: str = "", **environment: str) -> str:
    path.write_text(EXAMPLES.format(tests=str(TESTS), root=str(TESTS.parent), loads=loads))
    kept = {name: value for name, value in os.environ.items() if name != NAME}
    return subprocess.run(
        [sys.executable, str(path)],
        env=kept | environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.thorough
@pytest.mark.skipif("bpy" in sys.modules and bool(sys.modules["bpy"].app.binary_path), reason="needs a bare Python")
def test_a_plain_run_tries_the_same_examples(tmp_path) -> None:
    path = tmp_path / "drawn.py"
    first = examples(path, PYTHONHASHSEED="1")
    assert first.count("\n") > 20
    assert examples(path, "import lookat_pd.gaze, lookat_pd.pd", PYTHONHASHSEED="2") == first
