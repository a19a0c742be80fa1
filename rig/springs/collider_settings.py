"""The settings of what springs collide with, on objects and bones: `object.lookat_pd_collider` and
`pose_bone.lookat_pd_collider`.

No postponed annotations: Blender reads them.
"""

import bpy

from ..animation.stored_settings import registration
from ..layers.controller_settings import EDITABLE
from ..settings import Properties, pointer
from .settings import is_other

NAME = "lookat_pd_collider"
SHAPES = (
    ("SPHERE", "Sphere", "A ball around the object, as large as it is displayed"),
    ("CAPSULE", "Capsule", "A rod with round ends along the local Z axis, as thick as the object is displayed"),
    ("PLANE", "Plane", "All that is below the object, against its local Z axis, is solid"),
)
_deciding = Properties(override=EDITABLE, update=is_other, options=set())


class ColliderSettings(bpy.types.PropertyGroup):
    """What springs do not pass through."""

    exists: _deciding.switch("Collider", "Springs collide with it", options={"HIDDEN"})
    shape: _deciding.choice("Shape", "Shape of the collider of an object; a bone is a capsule", SHAPES)
    radius: _deciding.number(
        "Radius", "Radius of the collider along a bone", 0.05, max=1000.0, soft_max=0.5, subtype="DISTANCE", step=1
    )
    length: _deciding.number(
        "Length",
        "Length of a capsule between the centers of its ends",
        0.3,
        max=1000.0,
        soft_max=2.0,
        subtype="DISTANCE",
    )
    groups: _deciding.text("Groups", "Names of groups that chains can choose to collide with, divided by commas")
    friction: _deciding.number("Friction", "Coefficient of friction of what touches it", 0.3, max=10.0, soft_max=1.0)


register, unregister = registration(
    (ColliderSettings,),
    *((owner, NAME, pointer(ColliderSettings, override=EDITABLE)) for owner in (bpy.types.Object, bpy.types.PoseBone)),
)
