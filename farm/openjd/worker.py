"""What the tasks of template.yaml run on a worker: the search for a Blender, and the command line with it.

    python worker.py enter [--program PROGRAM] [--extension FILE.zip] --folder FOLDER
    python worker.py run [--within FOLDER] [--options TEXT] VERB ...

`enter` names what it has found in the environment variable LOOKAT_PD_COMMAND, by a line that OpenJD reads, and ends
with 1 where there is nothing; `run` calls it. Any Python from 3.8 on will do.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

COMMAND = "LOOKAT_PD_COMMAND"
USER_FOLDER = "BLENDER_USER_RESOURCES"
NAME = "lookat_pd"
PYTHONS = ("python3", "python")


def variable(name, value):
    """Set an environment variable for this process and for all tasks of the session."""
    os.environ[name] = value
    print(f"openjd_env: {name}={value}", flush=True)


def fail(sentence):
    print(f"openjd_fail: {sentence}", flush=True)
    raise SystemExit(1)


def quiet(*words):
    """The exit code of a program whose output nobody reads."""
    nowhere = subprocess.DEVNULL
    try:
        return subprocess.call(words, stdin=nowhere, stdout=nowhere, stderr=nowhere)
    except OSError:
        return 127


def is_python(program):
    return quiet(program, "-c", "import bpy") == 0


def of_blender(blender, extension, folder):
    """The command of a Blender; with a zip of the extension, it is installed for this session alone."""
    if extension:
        variable(USER_FOLDER, str(folder / "blender"))
        install = [blender, "--offline-mode", "--command", "extension", "install-file", "-r", "user_default"]
        if quiet(*install, "--enable", extension) != 0:
            fail(f"Blender {blender} cannot install {extension}; choose the zip for this system and this Blender.")
    return [blender, "--offline-mode", "--command", NAME]


def of_python(python, extension, folder):
    """The command of a Python with bpy, out of an unpacked zip."""
    if not extension:
        fail(f"{python} needs the extension: choose its zip, or name its folder cli behind the program.")
    with zipfile.ZipFile(extension) as archive:
        archive.extractall(folder / NAME)
    return [python, str(folder / NAME / "cli")]


def find(program, extension, folder):
    """The words that begin a call of the command line."""
    if not program:
        blender = shutil.which("blender")
        if blender:
            return of_blender(blender, extension, folder)
        python = next(filter(is_python, [sys.executable, *filter(None, map(shutil.which, PYTHONS))]), None)
        if python is None:
            fail("There is neither a Blender nor a Python with bpy on this worker; name one as Program.")
        return of_python(python, extension, folder)
    path = shutil.which(program)
    if path:
        return (of_python if is_python(path) else of_blender)(path, extension, folder)
    words = [word.strip('"') for word in shlex.split(program, posix=os.name != "nt")]
    if not shutil.which(words[0]):
        fail(f"There is no program {words[0]} on this worker; choose another Program, or leave it empty.")
    return words


def enter(program, extension, folder):
    if extension and not Path(extension).is_file():
        fail(f"There is no file {extension}; choose the extension's zip.")
    command = find(program, extension, folder)
    if quiet(*command, "report", "--help") != 0:
        fail(
            f"'{shlex.join(command)}' does not know Look-at PD; install the extension, or choose its zip as Extension."
        )
    variable(COMMAND, json.dumps(command))
    print(f"openjd_status: uses {shlex.join(command)}", flush=True)


def run(within, options, words):
    """Become the command line, so that a signal reaches it. Options name files from `within`."""
    if within:
        os.chdir(within)
    command = [*json.loads(os.environ[COMMAND]), *words, *shlex.split(options, posix=True)]
    if os.name == "nt":
        # There the program would go on by itself, and the task would end at once.
        raise SystemExit(subprocess.call(command))
    os.execvp(command[0], command)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    below = parser.add_subparsers(dest="what", required=True)
    entering, running = below.add_parser("enter"), below.add_parser("run")
    entering.add_argument("--program", default="")
    entering.add_argument("--extension", default="")
    entering.add_argument("--folder", type=Path, required=True)
    running.add_argument("--within", default="")
    running.add_argument("--options", default="")
    running.add_argument("words", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if given.what == "enter":
        enter(given.program, given.extension, given.folder)
    else:
        run(given.within, given.options, given.words)


if __name__ == "__main__":
    main()
