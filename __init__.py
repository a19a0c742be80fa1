"""Look-at PD: the add-on package. Registers an explicit list of modules, in order, and unregisters it in reverse."""

from types import ModuleType


def modules() -> tuple[ModuleType, ...]:
    """The modules that register classes, in order.

    Imported here and not at the top: tools that collect the checkout's Python files read this one without its package.
    """
    from . import cli, operators, panels, translations
    from .rig.animation import stored_settings
    from .rig.dynamics import hit_settings
    from .rig.dynamics import settings as dynamics_settings
    from .rig.ik import body_settings
    from .rig.ik import settings as ik_settings
    from .rig.layers import layer, live
    from .rig.look_at import looking
    from .rig.look_at import settings as look_at_settings
    from .rig.look_at.directing import conversation_settings, shot_settings
    from .rig.look_at.live import look_at_kind
    from .rig.pd_follow import follow_kind
    from .rig.pd_follow import settings as pd_follow_settings
    from .rig.springs import collider_settings, springs_kind
    from .rig.springs import settings as springs_settings
    from .rig.transitions import library_settings, travel_settings
    from .rig.transitions import settings as transition_settings
    from .rig.transitions.visual import visual_kind

    settings = (
        stored_settings,
        look_at_settings,
        looking,
        shot_settings,
        conversation_settings,
        transition_settings,
        library_settings,
        travel_settings,
        ik_settings,
        body_settings,
        dynamics_settings,
        hit_settings,
        pd_follow_settings,
        springs_settings,
        collider_settings,
    )
    kinds = look_at_kind, springs_kind, follow_kind, visual_kind
    return translations, *settings, layer, live, *kinds, operators, panels, cli


def register() -> None:
    """Called by Blender when the extension is enabled."""
    for module in modules():
        module.register()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    for module in reversed(modules()):
        module.unregister()
