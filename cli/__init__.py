"""The command line: `blender --command lookat_pd VERB …`, and without Blender's window `python cli VERB …`."""

NAME = "lookat_pd"
_handles: list[object] = []


def _command(arguments: list[str]) -> int:
    # What the command needs is loaded when it is called: Blender's start must not pay for it.
    from .program import main

    return main(arguments, f"blender --command {NAME}")


def register() -> None:
    # Not at the top: workers of `--jobs` start while Blender is loaded.
    import bpy

    _handles.append(bpy.utils.register_cli_command(NAME, _command))


def unregister() -> None:
    import bpy

    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
