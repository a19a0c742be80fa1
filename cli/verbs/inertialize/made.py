"""What a mode of `inertialize` has made, and its row of the report."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import bpy

from ....rig.animation import actions
from ....rig.transitions import pose_markers, sequence
from ....rig.transitions.library import Library, LibraryCut
from ....rig.transitions.visual.visual_transition import VisualTransition
from ...report import Row, line
from .velocity_jump import Step


@dataclass(frozen=True)
class Made:
    """The new action of a mode, and what the report says of it."""

    action: bpy.types.Action
    slot: bpy.types.ActionSlot
    clips: list[str]
    """Names of the actions that it was made from."""
    cuts: list[int] = field(default_factory=list)
    """Frames of the transitions."""
    blends: list[float] = field(default_factory=list)
    """Seconds of each transition."""
    places: list[tuple[Step, Step]] = field(default_factory=list)
    """The two steps at each transition whose speeds are compared."""
    begins: list[float] = field(default_factory=list)
    """The frame of each clip at which it begins."""
    root: str | None = None
    """Bone by which clips were placed."""
    missing: list[str] = field(default_factory=list)
    """Bones that the rig lacks."""
    methods: list[str] = field(default_factory=list)
    """Of each transition."""
    foot_drift: tuple[float, float] | None = None
    """Largest distance [units of the world] between two places of a planted foot before and after it was locked, None
    where none was."""
    library: Library | None = None
    """The actions that were compared."""
    path: list[LibraryCut] = field(default_factory=list)
    """The cuts in the library that were taken."""
    converted: list[str] = field(default_factory=list)
    """Bones whose rotation was keyed in another mode."""
    kept: list[float] = field(default_factory=list)
    """Of each clip, the share of its frames that plays."""
    travel: dict[str, float] | None = None
    """The speed of a clip that was converted."""


def fill(row: Row, made: Made, jumps: Sequence[float | None]) -> None:
    """jumps: of the angular velocity at each transition [deg/s]."""
    row["frames"] = list(sequence.key_range(made.action, made.slot))
    row["action"], row["clips"] = made.action.name, made.clips
    row["clip_frames"] = made.begins
    row["kept"] = made.kept
    row["cuts"] = made.cuts
    fill_transitions(row, made.blends, made.methods, jumps)
    row["foot_drift"] = drift(made.foot_drift)
    row["markers"] = [{"frame": frame, "name": name} for frame, name in pose_markers.read(made.action)]
    row["travel"] = made.travel
    row["root"], row["missing_bones"] = made.root, made.missing
    if made.missing:
        row["warnings"].append(
            f"'{row['rig']}' has not all bones that the clips move, and their motion is left out: "
            f"{', '.join(made.missing)}."
        )
    if made.converted:
        row["warnings"].append(
            f"Rotations keyed in another mode than the bone has were converted: {', '.join(made.converted)}."
        )
    others = {
        slot.name_display
        for name in made.clips
        for slot in bpy.data.actions[name].slots
        if slot.target_id_type not in ("OBJECT", "UNSPECIFIED") and not actions.is_empty(bpy.data.actions[name], slot)
    }
    if others:
        row["warnings"].append(
            f"Only the motion of '{row['rig']}' is in the result, not what the clips do to {', '.join(sorted(others))}."
        )


def fill_visual(
    row: Row,
    frames: tuple[int, int],
    cuts: Sequence[int],
    made: Sequence[VisualTransition],
    jumps: Sequence[float | None],
) -> None:
    """The same of visual transitions, which are no action."""
    row["frames"], row["cuts"] = list(frames), list(cuts)
    fill_transitions(row, [item.blend for item in made], [item.how.id for item in made], jumps)


def fill_transitions(row: Row, blends: Sequence[float], methods: Sequence[str], jumps: Sequence[float | None]) -> None:
    row["blends"], row["methods"] = [round(blend, 4) for blend in blends], list(methods)
    row["velocity_jump_deg_per_s"] = [None if jump is None else round(jump, 3) for jump in jumps]


def drift(feet: tuple[float, float] | None) -> list[float] | None:
    """How far planted feet moved, for the report. feet: before and after they were locked."""
    return None if feet is None else [round(distance, 6) for distance in feet]


def result(row: Row) -> str:
    """One line about a file that was written."""
    if row["baked"]:
        return f"{row['input']} -> {row['output']}: {', '.join(own['action'] for own in row['baked'])}"
    pairs = zip(row["cuts"], row["blends"], strict=True)
    cuts = ", ".join(f"{cut} ({blend:.2f} s)" for cut, blend in pairs)
    about = f", blended at {cuts}" if cuts else ""
    return line(row, row["action"] or row["rig"], about)
