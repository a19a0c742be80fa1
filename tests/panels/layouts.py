"""A layout that only notes what is drawn, and where a text would be cut: Blender tells nobody.

Widths are those of a sidebar as Blender opens it, at a scale of 1; everything scales alike. A row gives its items room
in proportion to what they need.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import blf
import bpy

PANEL = 226.0
"""Width of what stands in a panel of a sidebar of 280 pixels."""
ICON, PAD, MENU = 20.0, 6.0, 14.0
"""Pixels of an icon, of the edges of a text, and of the arrow of a menu."""
SPLIT = 0.4
"""Share of the labels where labels and values stand side by side."""
_FONT = 11
scale = 1.0
"""Of the interface. Text is not quite as many times as wide: its letters are drawn to whole pixels."""


def width(text: str) -> float:
    """Width of a text in the interface's font [pixels at a scale of 1]."""
    blf.size(0, _FONT * scale)
    return blf.dimensions(0, text)[0] / scale


@dataclass
class Item:
    """A button or a label."""

    text: str
    extra: float = 0.0
    """Pixels that it needs beside its text."""
    operator: str = ""
    """What it does, as `group.name`; empty for others than buttons."""
    icon: str | None = None
    """Of a label; None of what can be clicked."""

    @property
    def natural(self) -> float:
        return (width(self.text) + PAD if self.text else 0.0) + self.extra

    def cut(self, room: float) -> Iterator[str]:
        if self.text and self.natural > room + 0.5:
            yield f"{self.text!r} needs {self.natural:.0f} of {room:.0f}"


@dataclass
class Valued:
    """A label on the left, a value on the right."""

    label: Item
    value: Item

    @property
    def natural(self) -> float:
        return max(self.label.natural / SPLIT, self.value.natural / (1.0 - SPLIT))

    def cut(self, room: float) -> Iterator[str]:
        yield from self.label.cut(SPLIT * room)
        yield from self.value.cut((1.0 - SPLIT) * room)


def _is_icon(item: Any) -> bool:
    """Whether an item is a button without a text, which has one size in all rows."""
    return isinstance(item, Item) and not item.text


@dataclass
class Layout:
    """Stands for a `bpy.types.UILayout`."""

    translate_text: Callable[[str, str], str]
    """Text and context to what is shown."""
    kind: str = "column"
    factor: float = 0.0
    items: list[Any] = field(default_factory=list)
    use_property_split: bool = False
    heading: str = ""

    def __post_init__(self) -> None:
        self.use_property_decorate = self.active = self.enabled = self.alert = True
        self.alignment, self.operator_context, self.scale_x, self.scale_y = "EXPAND", "", 1.0, 1.0
        self.ui_units_x = 0.0

    # What Blender's layouts offer

    def _part(self, kind: str, factor: float = 0.0) -> "Layout":
        part = Layout(self.translate_text, kind, factor, use_property_split=self.use_property_split)
        self.items.append(part)
        return part

    def column(self, align: bool = False, heading: str = "", **_: Any) -> "Layout":
        return self._part("column")

    def row(self, align: bool = False, heading: str = "", **_: Any) -> "Layout":
        return self._part("row")

    def box(self) -> "Layout":
        return self._part("box")

    def split(self, factor: float = 0.0, align: bool = False) -> "Layout":
        return self._part("split", factor)

    def grid_flow(self, columns: int = 0, **_: Any) -> "Layout":
        return self._part("grid", max(columns, 1))

    def separator(self, **_: Any) -> None:
        pass

    def label(self, text: str = "", icon: str = "NONE", translate: bool = True, icon_value: int = 0, **_: Any) -> None:
        self._add(text, icon != "NONE" or bool(icon_value), translate)
        self.items[-1].icon = icon

    def operator(
        self, name: str, text: str | None = None, icon: str = "NONE", translate: bool = True, **_: Any
    ) -> SimpleNamespace:
        if text is None:
            group, own = name.split(".")
            text = str(getattr(bpy.types, f"{group.upper()}_OT_{own}").bl_label)
        self._add(text or "", icon != "NONE", translate, "Operator")
        self.items[-1].operator = name
        return SimpleNamespace()

    def operator_menu_enum(self, name: str, enum: str, text: str | None = None, icon: str = "NONE", **_: Any):
        return self.operator(name, text, icon)

    def menu(self, name: str, text: str | None = None, icon: str = "NONE", translate: bool = True, **_: Any) -> None:
        self._add(text if text is not None else getattr(bpy.types, name).bl_label, icon != "NONE", translate, more=MENU)

    def popover(
        self, panel: str, text: str | None = None, icon: str = "NONE", translate: bool = True, **_: Any
    ) -> None:
        self.menu(panel, text, icon, translate)

    def progress(self, text: str = "", translate: bool = True, **_: Any) -> None:
        self._add(text, False, translate)

    def template_list(self, *_: Any, **__: Any) -> None:
        self.items.append(Item("", 60.0))

    def template_icon(self, icon_value: int, scale: float = 1.0) -> None:
        self.items.append(Item("", ICON * scale))

    def prop_search(self, owner: Any, name: str, *_: Any, text: str | None = None, **__: Any) -> None:
        self.prop(owner, name, text=text)

    def prop(
        self,
        owner: Any,
        name: str,
        text: str | None = None,
        icon: str = "NONE",
        translate: bool = True,
        icon_only: bool = False,
        **_: Any,
    ) -> None:
        prop = owner.bl_rna.properties[name]
        context = prop.translation_context
        label = prop.name if text is None else text
        label = self.translate_text(label, context) if translate else label
        if icon_only:
            label = ""
        extra = ICON if icon != "NONE" else 0.0
        if not self.use_property_split or not label:
            if prop.type == "ENUM" and not label:
                self.items += [Item(max(self._values(prop), key=width, default=""), extra + MENU)]
            else:
                number = 0.0 if prop.type in ("BOOLEAN", "STRING", "POINTER") else 34.0
                box = ICON if prop.type == "BOOLEAN" and icon == "NONE" else 0.0
                self.items.append(Item(label, extra + number + box))
            return
        if prop.type == "BOOLEAN" and not getattr(prop, "is_array", False):
            self.items.append(Valued(Item(""), Item(label, ICON)))
        elif prop.type == "ENUM":
            self.items.append(Valued(Item(label), Item(max(self._values(prop), key=width, default=""), extra + MENU)))
        else:
            self.items.append(Valued(Item(label), Item("", extra)))

    def _values(self, prop: Any) -> list[str]:
        return [self.translate_text(item.name, prop.translation_context) for item in prop.enum_items]

    def _add(self, text: str, icon: bool, translate: bool, context: str = "*", more: float = 0.0) -> None:
        shown = self.translate_text(text, context) if translate and text else text
        self.items.append(Item(shown, (ICON if icon else 0.0) + more))

    # What is seen

    def seen(self, enabled: bool = True) -> Iterator[tuple[Any, bool]]:
        """Everything but layouts, and whether it may be used."""
        for item in self.items:
            if isinstance(item, Layout):
                yield from item.seen(enabled and self.enabled)
            else:
                yield item, enabled and self.enabled

    # What is cut

    @property
    def natural(self) -> float:
        sizes = [item.natural for item in self.items] or [0.0]
        if self.kind == "row":
            return sum(sizes)
        return max(sizes) * (self.factor if self.kind == "grid" else 1.0)

    def cut(self, room: float = PANEL) -> Iterator[str]:
        """The texts that would be cut in so many pixels."""
        if self.kind == "box":
            room -= 10.0
        if self.kind == "row":
            fixed = [item.natural for item in self.items if _is_icon(item)]
            needed = max(self.natural - sum(fixed), 1e-9)
            for item in self.items:
                if not _is_icon(item):
                    yield from item.cut(max((room - sum(fixed)) * item.natural / needed, 0.0))
        elif self.kind == "split":
            for n, item in enumerate(self.items):
                share = self.factor or 1.0 / len(self.items)
                yield from item.cut(room * (share if n == 0 else (1.0 - share) / max(len(self.items) - 1, 1)))
        else:
            for item in self.items:
                yield from item.cut(room / (self.factor if self.kind == "grid" else 1.0))
