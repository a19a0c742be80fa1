"""Japanese, as data: `ja.json` has the interface's texts by Blender's context, and messages by their template.

Words that Blender translates itself are written as Blender writes them: its own entry comes first.
Each thing has one word: the table in `docs/terms.md`.
"""

import json
from pathlib import Path

_DATA = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

INTERFACE: dict[str, dict[str, str]] = _DATA["interface"]
"""By context, "*" or "Operator", and English text."""
MESSAGES: dict[str, str] = _DATA["messages"]
"""Messages of errors, reports and disabled operators, and the words in them, by their English template."""
