"""Operations of an animator for the random sequences: what there is to work on, and the features beside the look-at.

Settings at their bounds, directing and conversations, *Compare*, *Live Follow*, and bakes of IK, dynamics and many
actions.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import bpy
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from extension import load

clock = load("rig.layers.clock")
bake_actions = load("rig.look_at.bake_actions")
bake_options = load("rig.animation.bake_options")
compare = load("rig.look_at.compare")
contacts = load("rig.ik.contacts")
conversation_settings = load("rig.look_at.directing.conversation_settings")
conversation_table = load("rig.look_at.directing.conversation_table")
detection = load("lookat_pd.body.contacts")
drain = load("lookat_pd.progress").drain
files = load("lookat_pd.conversation.files")
effector_goal = load("rig.ik.effector_goal")
follow = load("rig.look_at.live_follow.live_follow_session")
has_engine = load("lookat_pd.dynamics").available
ik_bake = load("rig.ik.chain_bake")
ik_chain = load("rig.detection.joint_chain")
ik_solving = load("rig.ik.chain_solve")
interpolation = load("rig.dynamics.interpolation")
look_at = load("rig.look_at.resolve")
looks = load("rig.look_at.directing.looks")
moving_actions = load("rig.detection.moving_actions")
reaching = load("rig.dynamics.reaching")
setting_keys = load("rig.look_at.directing.setting_keys")
shot_home = load("rig.look_at.directing.shot_home")
shot_keys = load("rig.look_at.directing.shot_keys")
targets = load("rig.sampling.targets")
LookAtError = load("lookat_pd.errors").LookAtError

LAST = 24
INTO = ("NEW", "CURRENT", "LAYER")
whole = st.integers(0, 10_000)
number = st.floats(-1.0, 1.0, width=32)


class Stage(RuleBasedStateMachine):
    """What there is in the scene."""

    def armature(self, n: int) -> bpy.types.Object:
        """A character that may be edited: no library override."""
        found = [item for item in bpy.context.scene.objects if item.type == "ARMATURE" and not item.override_library]
        return found[n % len(found)]

    def item(self, n: int, *, editable: bool = False) -> bpy.types.Object | None:
        """An object or none; library overrides too, unless it is to be edited."""
        known = [item for item in bpy.context.scene.objects if not clock.is_clock(item)]
        found = [None, *(item for item in known if not (editable and item.override_library))]
        return found[n % len(found)]

    def bone(self, armature: bpy.types.Object, n: int) -> bpy.types.PoseBone:
        return armature.pose.bones[n % len(armature.pose.bones)]

    def looking(self) -> list[tuple[bpy.types.Object, str]]:
        found = [item for item in bpy.context.scene.objects if item.type == "ARMATURE"]
        return [(item, bone) for item in found for bone in look_at.bones_with_look_at(item)]

    def look_at_of(self, n: int) -> tuple[bpy.types.Object, str]:
        """One that an operator works on, as `character`."""
        bpy.context.view_layer.update()
        looking = self.looking()
        return looking[n % len(looking)]

    def settings(self, n: int) -> Any:
        looking = self.looking()
        armature, bone = looking[n % len(looking)]
        return armature.pose.bones[bone].lookat_pd

    def some_look(self) -> bool:
        return bool(self.looking())

    def character(self, n: int) -> bpy.types.Object:
        """One that an operator works on: Blender evaluates what was changed before an operator begins."""
        bpy.context.view_layer.update()
        return self.armature(n)


def _plays_a_library(armature: bpy.types.Object) -> bool:
    data = armature.animation_data
    return data is not None and data.action is not None and data.action.library is not None


class FeatureOperations(Stage):
    """What can be done beside editing look-ats, rigs and files."""

    # Settings and keys of look-ats

    @precondition(Stage.some_look)
    @rule(
        n=whole,
        group=st.sampled_from(("", "body", "eyes", "chain", "targets")),
        which=whole,
        end=st.sampled_from(("soft_min", "soft_max", "hard_min", "hard_max", "default")),
    )
    def bound(self, n: int, group: str, which: int, end: str) -> None:
        """A number at the end of its range, or another item of an enumeration."""
        found = getattr(self.settings(n), group) if group else self.settings(n)
        if group in ("chain", "targets"):
            if not len(found):
                return
            found = found[which % len(found)]
        able = [
            prop
            for prop in found.bl_rna.properties
            if prop.type in ("INT", "FLOAT", "ENUM") and not prop.is_hidden and not getattr(prop, "is_array", False)
        ]
        if not able:
            return
        prop = able[which % len(able)]
        if prop.type == "ENUM":
            names = [item.identifier for item in prop.enum_items]
            setattr(found, prop.identifier, names[which % len(names)])
        else:
            setattr(found, prop.identifier, getattr(prop, end))

    @precondition(Stage.some_look)
    @rule(
        n=whole,
        name=st.sampled_from(("use", "influence", "glance_yaw", "nod")),
        at=st.integers(1, LAST),
        high=st.booleans(),
        in_clip=st.booleans(),
    )
    def key_setting(self, n: int, name: str, at: int, high: bool, in_clip: bool) -> None:
        armature, bone = self.look_at_of(n)
        with suppress(LookAtError):
            setting_keys.check(armature, bone)
            prop = armature.pose.bones[bone].lookat_pd.bl_rna.properties[name]
            value = high if prop.type == "BOOLEAN" else (prop.soft_min, prop.soft_max)[high]
            setattr(armature.pose.bones[bone].lookat_pd, name, value)
            if not in_clip:
                setting_keys.insert(armature, bone, name, at)
            elif not _plays_a_library(armature):
                armature.keyframe_insert(shot_home.in_object(armature, bone, name).path, frame=at)

    @precondition(Stage.some_look)
    @rule(n=whole)
    def move_keys(self, n: int) -> None:
        with suppress(LookAtError):
            shot_keys.move([self.look_at_of(n)])

    @precondition(Stage.some_look)
    @rule(n=whole)
    def switch_clip(self, n: int) -> None:
        """Another action, without keys."""
        armature, _ = self.look_at_of(n)
        data = armature.animation_data
        if data is not None and data.action is not None and not data.use_tweak_mode and data.action.library is None:
            data.action.use_fake_user = True
            data.action = bpy.data.actions.new("Clip")
            data.action_slot = data.action.slots.new(id_type="OBJECT", name=armature.name)

    @precondition(Stage.some_look)
    @rule(n=whole, towards=whole, at=st.integers(1, LAST), what=st.sampled_from(("look", "away", "remove", "move")))
    def direct(self, n: int, towards: int, at: int, what: str) -> None:
        """Another target from a frame on, a look away, a target less, or two in another order."""
        armature, bone = self.look_at_of(n)
        count = len(targets.listed(armature.pose.bones[bone].lookat_pd))
        with suppress(LookAtError):
            if what == "look":
                place = looks.add(armature, bone, targets.Target(self.item(towards)))
                looks.look(bpy.context.scene, armature, bone, place, at)
            elif what == "away":
                looks.look_away(bpy.context.scene, armature, bone, at)
            elif what == "remove":
                looks.remove(armature, bone, towards % (count + 1))
            else:
                looks.move(armature, bone, towards % count, (towards + 1) % count)

    # Conversations

    @rule(n=whole, other=whole, seed=st.integers(0, 5), eyes=st.booleans(), body=st.booleans(), replace=st.booleans())
    def converse(self, n: int, other: int, seed: int, eyes: bool, body: bool, replace: bool) -> None:
        people = list(dict.fromkeys((self.character(n), self.armature(other))))
        options = {"eyes": eyes, "body": body, "replace": replace}
        with suppress(LookAtError):
            conversation_table.begin(bpy.context.scene, people, {"seed": seed}, options)

    @staticmethod
    def is_talking() -> bool:
        return conversation_settings.exists(bpy.context.scene)

    @precondition(lambda self: self.is_talking())
    @rule(n=whole, what=st.sampled_from(("add", "remove", "lines", "end", "stale")), at=st.integers(1, LAST))
    def edit_conversation(self, n: int, what: str, at: int) -> None:
        scene, settings = bpy.context.scene, bpy.context.scene.lookat_pd_conversation
        bpy.context.view_layer.update()
        with suppress(LookAtError):
            if what == "add":
                scene.frame_set(at)
                conversation_table.add_turn(scene)
            elif what == "remove":
                settings.turns_index = n % (len(settings.turns) + 1)
                conversation_table.remove_turn(scene)
            elif what == "lines":
                names = [person.armature.name for person in settings.people if person.armature is not None]
                text = "\n".join(f"{frame}f {name}: hello" for frame, name in zip((at, at + 9), names, strict=False))
                conversation_table.take_lines(scene, files.read(text, "txt"))
            elif what == "end":
                conversation_table.remove(scene)
            else:
                # What a timer does in a window.
                conversation_settings.update_stale()

    # What is shown

    @rule(n=whole, on=st.booleans())
    def compare(self, n: int, on: bool) -> None:
        armature = self.character(n)
        if not on:
            compare.hide(armature)
            return
        with suppress(LookAtError):
            ghost = drain(compare.plain(bpy.context.scene, armature))
            compare.show(armature, ghost)
            compare.out_of_date()

    @precondition(Stage.some_look)
    @rule(n=whole, goal=st.tuples(number, number, number), end=st.sampled_from(("restore", "pose", *INTO)))
    def follow(self, n: int, goal: Sequence[float], end: str) -> None:
        """In real time for a few frames; then discarded, kept as a pose, or recorded."""
        armature, bone = self.look_at_of(n)
        scene = bpy.context.scene
        with suppress(LookAtError):
            session = follow.LiveFollowSession(scene, bpy.context.view_layer, armature, bone)
            try:
                session.record(end in INTO)
                for _ in range(6):
                    session.tick(1.0 / scene.render.fps, goal)
                if end == "restore":
                    session.restore()
                elif end == "pose":
                    session.keep()
                else:
                    session.check_keyed(end)
                    session.keep_recording(end)
            except BaseException:
                if session.is_open:
                    session.restore()
                raise

    # Bakes

    @precondition(Stage.some_look)
    @rule(n=whole, which=whole)
    def bake_onto_actions(self, n: int, which: int) -> None:
        armature, _ = self.look_at_of(n)
        bones = [name for name in look_at.bones_with_look_at(armature) if not armature.pose.bones[name].lookat_pd.mute]
        found = moving_actions.moving(armature)
        if bones and found and len(bpy.data.actions) < 40:
            chosen = [found[k % len(found)] for k in (which, which // 7)]
            with suppress(LookAtError):
                drain(bake_actions.bake_actions(bpy.context.scene, armature, bones, list(dict.fromkeys(chosen))))

    @rule(n=whole, towards=whole, into=st.sampled_from(INTO))
    def bake_ik(self, n: int, towards: int, into: str) -> None:
        armature, item = self.character(n), self.item(towards)
        with suppress(LookAtError):
            found = ik_chain.resolve(armature, "hand.L", length=2)
            goal = effector_goal.Goal(targets.Target(item))
            options = bake_options.BakeOptions(1, LAST, into)
            drain(ik_bake.bake_goal(bpy.context.scene, found, goal, ik_solving.IKTuning(iterations=5), options))

    @rule(n=whole, first=st.integers(1, LAST), last=st.integers(1, LAST), into=st.sampled_from(INTO))
    def lock_contact(self, n: int, first: int, last: int, into: str) -> None:
        armature = self.character(n)
        what = [(first, last)] if first <= last else detection.Detection()
        with suppress(LookAtError):
            found = ik_chain.resolve(armature, "hand.R", length=2)
            options = bake_options.BakeOptions(1, LAST, into)
            tuning = ik_solving.IKTuning(iterations=5)
            touch = contacts.Touch(contacts.Contact(what, 0.1))
            drain(contacts.clean_up(bpy.context.scene, found, touch, tuning, options))

    @precondition(lambda self: has_engine())
    @rule(n=whole, bones=st.lists(whole, min_size=1, max_size=2), into=st.sampled_from(INTO))
    def interpolate(self, n: int, bones: Sequence[int], into: str) -> None:
        armature = self.character(n)
        names = tuple(dict.fromkeys(self.bone(armature, k).name for k in bones))
        with suppress(LookAtError):
            wanted = interpolation.InterpolationRequest(names, 1, LAST, selected=False)
            drain(interpolation.start(bpy.context.scene, armature, wanted, into))

    @precondition(lambda self: has_engine())
    @rule(n=whole, towards=whole, at=st.integers(1, LAST), into=st.sampled_from(INTO))
    def reach(self, n: int, towards: int, at: int, into: str) -> None:
        armature, item = self.character(n), self.item(towards)
        with suppress(LookAtError):
            wanted = reaching.ReachRequest("hand.R", targets.Target(item), at, duration=0.2, passes=1)
            drain(reaching.start(bpy.context.scene, armature, wanted, into))
