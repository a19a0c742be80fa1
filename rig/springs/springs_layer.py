"""The layer of springs: what they add to the bones of an armature, after look-ats."""

from ..layers.layer import Layer


class SpringLayer(Layer):
    """All springs of an armature in one layer."""

    prefix, order, action_name = "Springs PD ", 20, ".Springs PD Offsets"
