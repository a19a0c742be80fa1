"""What settings of springs say that a VRM file cannot say."""

from collections.abc import Callable, Iterator

import numpy as np

from ...lookat_pd.message import Message, joined
from . import along_chain, colliders, fields, vrm_tuning
from .along_chain import BoneTuning
from .chains import SpringChain
from .vrm_data import VrmJoint
from .vrm_work import VrmWork

_UNSAID = Message("VRM has no {settings}, as '{name}' has; the file is written without.").template
_COUPLED = Message(
    "'{name}' is not One Way, as all springs of VRM are; it is written with the stiffness at which it bends as far, "
    "and with Damping and Drag as one Drag Force."
).template
_NEAREST = Message(
    "VRM at 60 frames a second cannot swing '{name}' as it does here; the nearest that it can is written."
).template
_DIVIDED = Message(
    "VRM has one Drag Force for Damping and Drag: '{name}' comes to rest as it does here, but trails differently "
    "behind a character that moves."
).template
_FRICTION = Message("VRM has no friction, as the collider '{name}' has; the file is written without.").template
_NEAR = 0.05
"""Relative difference of a swing from which on it is told."""
_ALIKE = 0.1
"""Difference of the parts that still air has in the damping from which on it is told."""

_Test = Callable[[SpringChain, list[BoneTuning]], bool]
_TESTS: tuple[tuple[Message, _Test], ...] = (
    (Message("Limit"), lambda chain, own: any(bone.limit < np.pi - 1e-3 for bone in own)),
    (Message("Stretch"), lambda chain, own: not chain.settings.one_way and any(bone.stretch > 0.0 for bone in own)),
    (Message("Influence"), lambda chain, own: chain.settings.influence < 1.0),
    (Message("Turbulence"), lambda chain, own: chain.settings.turbulence > 0.0 and any(chain.settings.wind)),
    (Message("Inertia between 0 and 1"), lambda chain, own: any(0.0 < bone.inertia < 1.0 for bone in own)),
    (Message("Floor"), lambda chain, own: chain.settings.collide and chain.settings.floor),
)


def notes(work: VrmWork) -> Iterator[Message]:
    """A sentence for each thing, with its name."""
    has_wind = bool(fields.on(work.scene))
    for chain in work.every:
        own = list(along_chain.of(chain))
        lost = [label for label, test in _TESTS if test(chain, own)]
        if has_wind and chain.settings.fields:
            lost.append(Message("Force Fields"))
        if lost:
            yield Message(_UNSAID, settings=joined(", ", lost), name=chain.bone)
        if not chain.settings.one_way:
            yield Message(_COUPLED, name=chain.bone)
        elif not all(_is_near(work, joint) for joint in work.joints(chain, {}).values()):
            yield Message(_NEAREST, name=chain.bone)
        elif not all(_is_divided_alike(work, joint) for joint in work.joints(chain, {}).values()):
            yield Message(_DIVIDED, name=chain.bone)
    for one in work.placed:
        groups = colliders.names_of(one.item.settings.groups)
        if one.item.settings.friction > 0.0 and any(work.meets(chain, groups) for chain in work.every):
            yield Message(_FRICTION, name=one.item.label)


def _is_near(work: VrmWork, joint: VrmJoint) -> bool:
    """Whether a joint of VRM swings as a bone does here."""
    wanted, found = work.tunings[joint.bone], vrm_tuning.of_joint(joint)
    mine, yours = ((1.0 / t.settle_time, t.air) for t in (wanted, found))
    return bool(np.allclose(mine, yours, rtol=_NEAR, atol=_NEAR))


def _is_divided_alike(work: VrmWork, joint: VrmJoint) -> bool:
    """Whether still air has the same part in the damping of a joint of VRM as it has here."""
    mine, yours = (t.drag / max(t.air, _NEAR) for t in (work.tunings[joint.bone], vrm_tuning.of_joint(joint)))
    return abs(mine - yours) < _ALIKE
