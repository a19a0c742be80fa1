"""Every text of the project that an animator can read: from Blender's registered classes and from the source.

A message with values is found by its template, with the names of the values in braces. A value that is a word and not
a name, such as "the current action", must be a Message itself.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from math import inf
from pathlib import Path
from string import Formatter
from types import UnionType
from typing import ClassVar

import bpy

from extension import load

OPERATOR = "Operator"
ANY = "*"
_ERRORS = {
    name
    for name, kind in vars(load("lookat_pd.errors")).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
}
_SHOWN_BY_LAYOUT = {"text", "heading", "title", "message", "confirm_text"}
_SHOWN = {"report": 1, "report_error": 1, "report_info": 1, "translate": 0, "status_text_set": 0, "poll_message_set": 0}
"""Calls that show a sentence, and which argument it is."""
_MESSAGES = {"Message", "joined"}
_LOOKED_UP_BY = {"pgettext", "pgettext_iface", "pgettext_tip", "pgettext_rpt", "iface_", "tip_", "rpt_"}


def has_words(text: str) -> bool:
    """Whether there is anything to translate in a text: axis names, IK, arrows and numbers are the same everywhere."""
    return re.search(r"[A-Za-z]{2,}", "" if text == "IK" else re.sub(r"\{[^{}]*\}", "", text)) is not None


def holes(text: str) -> set[tuple[str, str, str | None]]:
    """Names, formats and conversions of the values of a template."""
    return {(name, form, conversion) for _, name, form, conversion in _parts(text) if name is not None}


def quoted(text: str) -> set[str]:
    """Names of the values that stand in quotes, which are names of things."""
    return {name for before, name, *_ in _parts(text) if name is not None and before.endswith("'")}


def _parts(text: str) -> list[tuple[str, str | None, str, str | None]]:
    try:
        return [(before, name, form or "", conversion) for before, name, form, conversion in Formatter().parse(text)]
    except ValueError:  # braces of a text without values
        return []


# Registered classes


def _registered(base: type) -> Iterator[type]:
    for kind in base.__subclasses__():
        if kind.__module__.startswith(load().__name__ + ".") and getattr(kind, "is_registered", False):
            yield kind
        yield from _registered(kind)


def _of_property(prop: bpy.types.Property) -> Iterator[tuple[str, str]]:
    if prop.name != prop.identifier:  # one without a name is shown nowhere
        yield prop.translation_context, prop.name
    yield ANY, prop.description
    for item in getattr(prop, "enum_items_static", ()):
        yield prop.translation_context, item.name
        yield ANY, item.description


def _of_struct(struct: bpy.types.Struct) -> Iterator[tuple[str, str]]:
    for prop in struct.properties:
        if prop.identifier not in ("rna_type", "name"):
            yield from _of_property(prop)


def _of_classes() -> Iterator[tuple[str, str]]:
    for name in dir(bpy.ops.lookat_pd):
        operator = getattr(bpy.ops.lookat_pd, name).get_rna_type()
        yield operator.translation_context, operator.name
        yield ANY, operator.description
        yield from _of_struct(operator)
    for base in (bpy.types.Panel, bpy.types.Menu, bpy.types.UIList):
        for kind in _registered(base):
            yield kind.bl_rna.translation_context, getattr(kind, "bl_label", "")
            yield ANY, getattr(kind, "bl_description", "") or ""
            yield ANY, getattr(kind, "bl_category", "")
    for kind in _registered(bpy.types.PropertyGroup):
        yield from _of_struct(kind.bl_rna)
    for path in Path(load().__file__).parent.glob("assets/presets/*/*.py"):
        yield ANY, load("rig.look_at.presets").shown_name(path)
        yield ANY, load("rig.look_at.presets").about(path)
    for path in Path(load().__file__).parent.glob("assets/presets/*/*.json"):
        yield ANY, load("rig.animation.preset_files").shown_name(path)
    for kind in (bpy.types.PoseBone, bpy.types.Object, bpy.types.Scene, bpy.types.WindowManager):
        for prop in kind.bl_rna.properties:
            if prop.identifier.startswith("lookat_pd"):
                yield from _of_property(prop)


# Source


class Source:
    """A Python file, in which an expression can be followed back to the texts that it may be."""

    _busy: ClassVar[dict[ast.AST, int]] = {}
    """The expressions that are being followed, in all sources, with their places on the way."""
    _back: ClassVar[float] = inf
    """The first place that following the expressions after it came back to: what they may be is not all known yet."""
    _partly: ClassVar[dict[tuple[ast.AST, bool], tuple[set[str], float]]] = {}
    """What such expressions may be beside that, and the place."""

    def __init__(self, path: Path, room: "Room") -> None:
        self.path, self.room = path, room
        self.tree = ast.parse(path.read_text("utf-8"))
        self._only_words = False
        self._nodes: list[ast.AST] = [self.tree]
        """All of the tree, as `ast.walk` gives them: to walk takes longer than all that is done with them."""
        self._above: dict[ast.AST, ast.AST] = {}
        for node in self._nodes:
            for child in ast.iter_child_nodes(node):
                self._above[child] = node
                self._nodes.append(child)
        self._known: dict[tuple[ast.AST, bool], set[str]] = {}

    @cached_property
    def functions(self) -> dict[str, ast.FunctionDef]:
        return {node.name: node for node in self._nodes if isinstance(node, ast.FunctionDef)}

    @cached_property
    def calls(self) -> list[ast.Call]:
        return [node for node in self._nodes if isinstance(node, ast.Call)]

    @cached_property
    def calls_of(self) -> dict[str, list[ast.Call]]:
        """The calls of each function or method, by its name."""
        found: dict[str, list[ast.Call]] = {}
        for call in self.calls:
            found.setdefault(_name(call), []).append(call)
        return found

    @cached_property
    def imported(self) -> dict[str, str]:
        """What is imported, by the name that it has here."""
        froms = (node for node in self._nodes if isinstance(node, ast.ImportFrom))
        return {alias.asname or alias.name: alias.name for node in froms for alias in node.names}

    @cached_property
    def _assigning(self) -> dict[ast.FunctionDef | None, dict[str, list[ast.AST]]]:
        """Assignments and loops in each function that give a name a value, by the name, those of functions within it
        included; of the file under None."""
        inside = self._inside(ast.Assign | ast.For | ast.comprehension)
        return {None: _by_name(self.tree.body)} | {each: _by_name(places) for each, places in inside.items()}

    @cached_property
    def _returning(self) -> dict[ast.FunctionDef, list[ast.expr | None]]:
        """What each function returns."""
        return {each: [node.value for node in nodes] for each, nodes in self._inside(ast.Return).items()}

    def _inside(self, kinds: type | UnionType) -> dict[ast.FunctionDef, list]:
        """The nodes of some kinds in each function, those of functions within it included."""
        found: dict[ast.FunctionDef, list] = {node: [] for node in self._nodes if isinstance(node, ast.FunctionDef)}
        for node in (node for node in self._nodes if isinstance(node, kinds)):
            function = self._function(node)
            while function is not None:
                found[function].append(node)
                function = self._function(function)
        return found

    def texts(self, node: ast.AST | None) -> set[str]:
        """Templates that an expression may be; none where that is not written in this file."""
        if node is None:
            return set()
        key = node, self._only_words
        if key in self._known:
            return self._known[key]
        if node in Source._busy:
            Source._back = min(Source._back, Source._busy[node])
            return set()
        if key in Source._partly:
            found, back = Source._partly[key]
            Source._back = min(Source._back, back)
            return found
        place, before, Source._back = len(Source._busy), Source._back, inf
        Source._busy[node] = place
        try:
            follow = getattr(self, f"_{type(node).__name__}", None)
            found = follow(node) if follow else set()
        finally:
            del Source._busy[node]
        if Source._back < place:
            Source._partly[key] = found, Source._back
            Source._back = min(Source._back, before)
        else:
            Source._partly = {other: known for other, known in Source._partly.items() if known[1] < place}
            Source._back, self._known[key] = before, found
        return found

    def returned(self, function: ast.FunctionDef) -> set[str]:
        """Templates that a function may return."""
        return self._any(self._returning[function])

    def words(self, node: ast.expr) -> set[str]:
        """Words that an expression may be and that are not in a Message, and so stay English."""
        self._only_words = True
        try:
            return {text for text in self.texts(node) if has_words(text)}
        finally:
            self._only_words = False

    def templates(self) -> set[str]:
        """All literals with places for values."""
        constants = (node.value for node in self._nodes if isinstance(node, ast.Constant))
        return {text for text in constants if isinstance(text, str) and holes(text) and has_words(text)}

    def _any(self, nodes: Iterable[ast.AST | None]) -> set[str]:
        return set().union(*(self.texts(node) for node in nodes))

    def _Constant(self, node: ast.Constant) -> set[str]:  # noqa: N802
        return {node.value} if isinstance(node.value, str) else set()

    def _Attribute(self, node: ast.Attribute) -> set[str]:  # noqa: N802
        return self.texts(node.value) if node.attr == "template" else set()

    def _IfExp(self, node: ast.IfExp) -> set[str]:  # noqa: N802
        return self.texts(node.body) | self.texts(node.orelse)

    def _BoolOp(self, node: ast.BoolOp) -> set[str]:  # noqa: N802
        return self._any(node.values)

    def _BinOp(self, node: ast.BinOp) -> set[str]:  # noqa: N802
        return self.texts(node.left) | self.texts(node.right) if isinstance(node.op, ast.Add) else set()

    def _GeneratorExp(self, node: ast.GeneratorExp) -> set[str]:  # noqa: N802
        return self.texts(node.elt)

    def _Subscript(self, node: ast.Subscript) -> set[str]:  # noqa: N802
        return self._in_dictionary(node.value)

    def _Call(self, node: ast.Call) -> set[str]:  # noqa: N802
        if isinstance(node.func, ast.Name) and node.func.id in _MESSAGES:
            return set() if self._only_words else self._any(node.args)
        if isinstance(node.func, ast.Name) and node.func.id in self.functions:
            return self.returned(self.functions[node.func.id])
        if isinstance(node.func, ast.Attribute) and node.func.attr == "join":
            return self._any(node.args)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "rstrip"):
            return self.texts(node.func.value)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "translate":
            return self._any(node.args)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            return self._in_dictionary(node.func.value) | self._any(node.args[1:])
        return set()

    def _in_dictionary(self, node: ast.expr) -> set[str]:
        """Values of a dictionary that is written on the spot or under a name."""
        node = self._literal(node, ast.Dict)
        return self._any(node.values) if isinstance(node, ast.Dict) else set()

    def _JoinedStr(self, node: ast.JoinedStr) -> set[str]:  # noqa: N802
        """A finished sentence, which nothing can look up: its values are nameless."""
        return {"".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)}

    def _Name(self, node: ast.Name) -> set[str]:  # noqa: N802
        function = self._function(node)
        for places in self._scopes(function, node.id):
            if found := set().union(*(self._assigned(place, node.id) for place in places)):
                return found
        return self._passed(function, node.id) if function else set()

    def _scopes(self, function: ast.FunctionDef | None, name: str) -> list[list[ast.AST]]:
        """Where a name gets its value in a function, and in the file."""
        return [self._assigning[scope].get(name, []) for scope in dict.fromkeys((function, None))]

    def _assigned(self, place: ast.AST, name: str) -> set[str]:
        """What an assignment or a loop over literals gives to a name."""
        if isinstance(place, ast.Assign):
            return set().union(*(self._unpacked(target, [place.value], name) for target in place.targets))
        if isinstance(place, ast.For | ast.comprehension):
            return self._unpacked(place.target, self._listed(place.iter), name)
        return set()

    def _listed(self, node: ast.expr) -> list[ast.expr]:
        """What a tuple holds that is written on the spot or under a name."""
        node = self._literal(node, ast.Tuple)
        return node.elts if isinstance(node, ast.Tuple) else []

    def _literal(self, node: ast.expr, kind: type[ast.expr]) -> ast.expr:
        """A literal of that kind: itself, or what its name stands for in the function or the file."""
        if not isinstance(node, ast.Name):
            return node
        for place in (place for places in self._scopes(self._function(node), node.id) for place in places):
            targets = place.targets if isinstance(place, ast.Assign) and isinstance(place.value, kind) else []
            if any(getattr(target, "id", None) == node.id for target in targets):
                return place.value
        return node

    def _unpacked(self, target: ast.expr, values: list[ast.expr], name: str) -> set[str]:
        if isinstance(target, ast.Name):
            return self._any(values) if target.id == name else set()
        places = [n for n, item in enumerate(getattr(target, "elts", ())) if getattr(item, "id", None) == name]
        return self._any([value.elts[n] for value in values if isinstance(value, ast.Tuple) for n in places])

    def _passed(self, function: ast.FunctionDef, name: str) -> set[str]:
        """What is passed for a parameter inside the file, and for a public function inside the room."""
        names = [argument.arg for argument in function.args.args]
        if name not in names:
            return set()
        at, found = names.index(name) - isinstance(self._above[function], ast.ClassDef), set()
        private = function.name.startswith("_")
        for source in [self] if private else self.room.callers.get(function.name, ()):
            for call in source.calls_of.get(function.name, ()):
                if not self._may_call(source, call, function):
                    continue
                given = [*call.args[at : at + 1], *(k.value for k in call.keywords if k.arg == name)]
                found |= source._any(given)
        return found

    def _may_call(self, source: "Source", call: ast.Call, function: ast.FunctionDef) -> bool:
        """Whether a call in a source may be one of a function of this file, by what stands before its name: an object
        has methods, a module or package its own functions."""
        before = getattr(call.func, "value", None)
        module = source.imported.get(before.id) if isinstance(before, ast.Name) else None
        if isinstance(self._above[function], ast.ClassDef):
            return before is not None and module is None
        return before is None or module in (self.path.stem, self.path.parent.name)

    def _function(self, node: ast.AST) -> ast.FunctionDef | None:
        while node in self._above:
            node = self._above[node]
            if isinstance(node, ast.FunctionDef):
                return node
        return None


def _by_name(places: Iterable[ast.AST]) -> dict[str, list[ast.AST]]:
    """The assignments and loops among nodes, by the names to which they give values."""
    found: dict[str, list[ast.AST]] = {}
    for place in places:
        targets: list[ast.expr] = []
        if isinstance(place, ast.Assign):
            targets = place.targets
        elif isinstance(place, ast.For | ast.comprehension):
            targets = [place.target]
        items = (item for target in targets for item in getattr(target, "elts", [target]))
        for name in {item.id for item in items if isinstance(item, ast.Name)}:
            found.setdefault(name, []).append(place)
    return found


def sources(*rooms: str) -> Iterator[Source]:
    for name in rooms:
        yield from _room(name).sources


class Room:
    """The sources in a folder."""

    def __init__(self, folder: Path) -> None:
        self.sources = [Source(path, self) for path in sorted(folder.rglob("*.py"))]

    @cached_property
    def callers(self) -> dict[str, list[Source]]:
        """The sources that call a function or method, by its name."""
        found: dict[str, list[Source]] = {}
        for source in self.sources:
            for name in source.calls_of:
                found.setdefault(name, []).append(source)
        return found


@cache
def _room(name: str) -> Room:
    return Room(Path(load().__file__).parent / name)


def _name(call: ast.Call) -> str:
    return getattr(call.func, "attr", None) or getattr(call.func, "id", "")


def _drawn(source: Source) -> Iterator[tuple[str, str]]:
    """Texts given to layouts."""
    for call in source.calls:
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        if isinstance(given.get("translate"), ast.Constant):
            continue
        context = OPERATOR if _name(call).startswith("operator") else ANY
        for name in _SHOWN_BY_LAYOUT & given.keys():
            yield from ((context, text) for text in source.texts(given[name]))
    if "description" in source.functions:
        yield from ((ANY, text) for text in source.returned(source.functions["description"]))


def _looked_up(source: Source) -> Iterator[tuple[str, str]]:
    """Texts that the source has Blender translate."""
    for call in source.calls:
        if _name(call) in _LOOKED_UP_BY and call.args:
            context = next(iter(source.texts(call.args[1])), ANY) if len(call.args) > 1 else ANY
            yield from ((context, text) for text in source.texts(call.args[0]))


def _raised(source: Source) -> Iterator[str]:
    """Messages of errors, and of warnings about stability."""
    for call in source.calls:
        kinds = {_name(call), *(getattr(argument, "id", "") for argument in call.args[1:])}
        if call.args and kinds & _ERRORS:
            found = source.texts(call.args[0]) or source.templates()
            assert found, f"{source.path.name}:{call.lineno} complains in words that are not found in the file"
            yield from found


def _messages(source: Source) -> Iterator[str]:
    """Templates of messages, wherever they are made."""
    for call in source.calls:
        if _name(call) in _MESSAGES:
            yield from (text for argument in call.args for text in source.texts(argument))


def untranslated(source: Source) -> Iterator[str]:
    """Words among the values of messages that would stay English; names in quotes do."""
    for call in source.calls:
        if _name(call) in {"Message", *_ERRORS} and call.args:
            templates = source.texts(call.args[0])
            names = {name for text in templates for name, _, conversion in holes(text) if conversion}
            names = names.union(*(quoted(text) for text in templates))
            for keyword in call.keywords:
                if keyword.arg not in {*names, "code"}:
                    found = source.words(keyword.value)
                    yield from (f"{source.path.name}:{call.lineno} {keyword.arg}: {text}" for text in found)


def _said(source: Source) -> Iterator[str]:
    """Sentences that operators report, and reasons why they are disabled."""
    for call in source.calls:
        at = _SHOWN.get(_name(call))
        if at is not None and len(call.args) > at:
            yield from source.texts(call.args[at])
    for name, function in source.functions.items():
        if name.startswith("why"):
            yield from source.returned(function)


def _noted(source: Source) -> Iterator[str]:
    """What the rig says of a look-at that works: sentences that are put on a list of notes, or returned as such."""
    for call in source.calls:
        if _name(call) == "append" and getattr(call.func.value, "id", "") == "notes" and call.args:
            yield from source.texts(call.args[0])
    if "notes" in source.functions:
        yield from source.returned(source.functions["notes"])


@cache
def interface() -> set[tuple[str, str]]:
    """Interface texts with their contexts."""
    shown = set(_of_classes())
    for source in sources("panels", "operators"):
        shown |= {(context, text) for context, text in _drawn(source) if not holes(text)}
        shown |= set(_looked_up(source))
    return {(context, text) for context, text in shown if has_words(text)}


@cache
def templates() -> set[str]:
    """Templates of messages."""
    said = {text for source in sources("panels", "operators") for text in _said(source)}
    for source in sources("panels", "operators", "rig", "lookat_pd"):
        said |= {*_raised(source), *_noted(source), *_messages(source)}
    return {text for text in said if has_words(text) or holes(text)}
