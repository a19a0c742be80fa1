"""Outside `rig/controls` nothing writes to a rig and evaluates it in a loop: no correction, and no probe."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import standalone

RIG = Path(standalone.__file__).parent / "rig"
EVALUATES = {"sample", "sample_frames", "sample_turned", "step", "frame_set"}
WRITES = {"write", "show", "put"}
OTHERWISE = {
    "dynamics/hit_controls.py HitControls.follow": "goals of limbs, each once, one on the other",
    "ik/drag.py ChainDrag.move": "pinned limbs, each once, one on the other",
    "look_at/circle_solve.py steps": "characters who look at each other, each solved once, then measured together",
    "look_at/circle_solve.py _rounds": "rounds of who looks at whom; each is realized by the one loop",
    "transitions/limb_swing.py soften": "transitions of a sequence, each once, again without what does not follow",
    "pd_follow/follow_kind.py FollowKind.steps": "bones of a chain, each once, on the result of the one before",
}
"""Functions with loops that write and evaluate, and why they are none of these."""


def names(node: ast.AST, functions: dict[str, list[ast.FunctionDef]], within: frozenset[str]) -> set[str]:
    """What is called in a node and in the functions of the file that it calls: as a rig is written and evaluated."""
    found = set()
    for call in ast.walk(node):
        if isinstance(call, ast.Assign) and any(
            isinstance(to, ast.Attribute) and to.attr in ("location", "rotation_quaternion", "rotation_euler")
            for to in call.targets
        ):
            found.add("write")
        if not isinstance(call, ast.Call):
            continue
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        on = ast.unparse(call.func)
        if called == "setattr" and ("render" in ast.unparse(call.args[0]) or ast.unparse(call.args[0]) == "self"):
            # A setting of the scene moves no bone, nor does what an object keeps for itself.
            continue
        if called == "setattr" or (called == "update" and "view_layer" in on) or (called == "read" and "reader" in on):
            found.add("write" if called == "setattr" else "step")
        elif called in EVALUATES | WRITES:
            found.add(called)
        elif called not in within:
            for function in functions.get(called, ()):
                found |= names(function, functions, within | {called})
    return found


def loops(text: str) -> Iterator[str]:
    """The functions with a loop that writes and evaluates."""
    tree = ast.parse(text)
    functions: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            functions.setdefault(node.name, []).append(node)

    def look(node: ast.AST, name: str) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            inner = name
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inner = f"{name}.{child.name}" if name else child.name
            if isinstance(child, ast.For | ast.While):
                called = set().union(*(names(part, functions, frozenset()) for part in child.body))
                if called & EVALUATES and called & WRITES:
                    yield inner
            yield from look(child, inner)

    return look(tree, "")


@pytest.mark.thorough
def test_corrections_and_probes_are_in_one_place() -> None:
    found = {
        f"{path.relative_to(RIG).as_posix()} {name}"
        for path in RIG.rglob("*.py")
        if path.relative_to(RIG).parts[0] != "controls"
        for name in loops(path.read_text("utf-8"))
    }
    assert found == OTHERWISE.keys()


def test_a_loop_of_another_kind_is_found() -> None:
    """Whatever the passes are called, and however deep it writes and evaluates."""
    text = """
class Bake:
    def steps(self, sampler):
        for _ in range(7):
            self._put_on_rig()
            seen = yield from self._look(sampler)

    def _put_on_rig(self):
        self.work.write("bone", "XYZ", self.frames, self.values, self.raw)

    def _look(self, sampler):
        return (yield from sampler.sample(self.frames))

def drag(view_layer, bone):
    while bone.matrix[0][3] < 1.0:
        bone.location = (1.0, 0.0, 0.0)
        view_layer.update()

def harmless(sampler, frames, work):
    for _ in sampler.sample(frames):
        pass
    for frame in frames:
        work.write(frame)
"""
    assert list(loops(text)) == ["Bake.steps", "drag"]
