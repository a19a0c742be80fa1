"""The command line: `blender --command lookat_pd VERB …`, and without Blender's window `python cli VERB …`."""

import bpy

NAME = "lookat_pd"
_handles: list[object] = []


def _command(arguments: list[str]) -> int:
    # What the command needs is loaded when it is called: Blender's start must not pay for it.
    from .program import main

    return main(arguments, f"blender --command {NAME}")


def register() -> None:
    _handles.append(bpy.utils.register_cli_command(NAME, _command))


def unregister() -> None:
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
