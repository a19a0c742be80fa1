"""What is added to the channels of controls."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes

changing = load("rig.controls.changes")
Changes, AnimatedChannels = changing.Changes, changing.AnimatedChannels
BakeTransaction = load("rig.animation.bake_transaction").BakeTransaction
rotation = load("lookat_pd.rotation")
sample = load("rig.sampling.sampler")

FRAMES = np.arange(1, 7)


@pytest.fixture
def armature() -> bpy.types.Object:
    armature = scenes.figure()
    scenes.animate(armature, modes=scenes.MODES)
    return armature


def sampled(armature: bpy.types.Object, *bones: str):
    with sample.Sampler(bpy.context.scene, armature, bones, [], located=True) as sampler:
        return sample.run(sampler.sample(FRAMES.tolist()))


def turns(seed: int) -> np.ndarray:
    return rotation.exp(np.random.default_rng(seed).uniform(-0.5, 0.5, (len(FRAMES), 3)))


@pytest.mark.every_blender
def test_adds_rotations_and_locations_to_what_is_animated(armature) -> None:
    before = sampled(armature, "hips", "chest", "head")
    moves = np.random.default_rng(2).uniform(-0.1, 0.1, (len(FRAMES), 3))
    with BakeTransaction(armature) as work:
        written = AnimatedChannels(before).write(work, Changes({"chest": turns(1)}, {"hips": moves}))
        after = sampled(armature, "hips", "chest", "head")
        work.rollback()
    assert written == ["chest", "hips"]
    wanted = rotation.multiply(before.rotations[:, 1], turns(1))
    assert rotation.distance(after.rotations[:, 1], wanted).max() < 1e-5
    assert np.allclose(after.raw["LOCATION"][:, 0], before.raw["LOCATION"][:, 0] + moves, atol=1e-6)


def test_what_was_written_is_written_again(armature) -> None:
    """A change that is taken back leaves the channels as animated, to the bit; one that is none writes nothing."""
    samples = sampled(armature, "chest", "head")

    class Written:
        def __init__(self) -> None:
            self.values: dict[tuple[str, str], np.ndarray] = {}

        def write(self, bone, mode, frames, values, base) -> None:
            self.values[bone, mode] = values

    writer, channels = Written(), AnimatedChannels(samples, size=2.0)
    tiny = rotation.exp(np.full((len(FRAMES), 3), 1e-8))
    assert channels.write(writer, Changes({"head": tiny}, {"head": np.full((len(FRAMES), 3), 1e-8)})) == []
    channels.write(writer, Changes({"chest": turns(1)}, {"head": np.ones((len(FRAMES), 3))}))
    assert channels.write(writer, Changes({"head": turns(2)})) == ["chest", "head"]
    mode, raw = samples.channel("chest")
    assert np.array_equal(writer.values["chest", mode], raw)
    assert np.array_equal(writer.values["head", "LOCATION"], samples.raw["LOCATION"][:, 1])


def test_changes_are_mixed_by_frame() -> None:
    """Controls that only one of two changes are not changed by the other."""
    one, other = Changes({"a": turns(1)}, {"b": np.ones((6, 3))}), Changes({"c": turns(2)})
    chosen = FRAMES < 3
    mixed = one.where(chosen, other)
    assert np.array_equal(mixed.turns["a"], np.where(chosen[:, None], turns(1), rotation.IDENTITY))
    assert np.array_equal(mixed.turns["c"], np.where(chosen[:, None], rotation.IDENTITY, turns(2)))
    assert np.array_equal(mixed.moves["b"][:, 0], chosen.astype(float))
    middle = one.halfway(other)
    assert np.allclose(rotation.angle(middle.turns["a"]), 0.5 * rotation.angle(turns(1)))
    assert np.allclose(middle.moves["b"], 0.5)
