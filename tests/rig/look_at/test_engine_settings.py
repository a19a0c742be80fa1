"""The settings as JSON for an engine."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from extension import load

from ..scenes import aim, ball, figure
from .body import bodies, faces

engine_settings = load("rig.look_at.engine_settings")
errors = load("lookat_pd.errors")
layers = load("rig.look_at.body.layers")
look_at = load("rig.look_at.resolve")
DOCS = Path(__file__).resolve().parents[3] / "docs"


def read(armature) -> dict:
    return json.loads(engine_settings.as_json(armature, "head"))


def test_gains_of_every_bone_are_those_of_its_settle_time() -> None:
    hero = figure()
    settings = aim(hero, ball((0.3, -2.0, 1.7)))
    settings.k_p, settings.k_d = 100.0, 15.0
    data = read(hero)
    assert (data["controller"]["k_p"], data["controller"]["k_d"]) == (100.0, 15.0)
    for link, item in zip(data["chain"], look_at.resolve(hero, "head").chain.settle_factors, strict=True):
        assert link["k_p"] == pytest.approx(100.0 / item**2, rel=1e-5)
        assert link["k_d"] == pytest.approx(15.0 / item, rel=1e-5)
        assert np.linalg.norm(link["forward"]) == pytest.approx(1.0, abs=1e-5)
        assert np.dot(link["forward"], link["up"]) == pytest.approx(0.0, abs=1e-5)


def test_without_a_target_and_without_a_body() -> None:
    """What looks needs no target to be described."""
    hero = figure()
    hero.pose.bones["head"].lookat_pd.exists = True
    hero.pose.bones["head"].lookat_pd.body.use_planted_feet = False
    data = read(hero)
    assert data["eyes"] is None and set(data["body"].values()) == {None, 0.0}
    assert [link["bone"] for link in data["chain"]] == list(look_at.resolve(hero, "head", [], ()).bones)


def test_the_whole_body() -> None:
    armature = bodies.person(moving=False)
    settings = aim(armature, ball())
    layers.switch_on(settings)
    data = read(armature)
    assert data["body"]["weight_shift"]["bone"] == "hips"
    assert data["body"]["weight_shift"]["side"] > data["body"]["weight_shift"]["back"] > 0.0
    assert len(data["body"]["arm_recoil"]["arms"]) == len(data["body"]["planted_feet"]["legs"]) == 2
    assert len(data["eyes"]["eyes"]) == 2
    assert data["eyes"]["blink"]["threshold"] == pytest.approx(np.radians(33.0), rel=1e-4)


def test_what_keeps_the_look_at_from_moving_is_an_error() -> None:
    hero = figure()
    aim(hero, ball((0.3, -2.0, 1.7))).chain.add().bone = "gone"
    with pytest.raises(errors.RigError):
        engine_settings.as_json(hero, "head")


def test_every_field_is_documented() -> None:
    armature = bodies.person(moving=False)
    layers.switch_on(aim(armature, ball()))
    text = (DOCS / "scripting.md").read_text("utf-8").partition("### Settings as JSON")[2].partition("\n### ")[0]
    documented = set(re.findall(r"`(\w+)`", text))
    assert not set(fields(read(armature))) - documented
    assert not set(fields(read(faces.person(faces.ARKIT)[0]))) - documented


def test_eyes_that_shape_keys_turn() -> None:
    armature, _, _ = faces.person(faces.ARKIT, 25.0)
    for eye in read(armature)["eyes"]["eyes"]:
        assert eye["bone"] is None and len(eye["shape_keys"]) == 4
        assert eye["angles"] == pytest.approx(np.radians([25.0] * 4), rel=1e-4)


def fields(value) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(name for part in value.values() for name in fields(part))]
    return [name for part in value for name in fields(part)] if isinstance(value, list) else []
