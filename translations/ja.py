"""Japanese, as data: `ja.json` has the interface's texts by Blender's context, and messages by their template.

Words that Blender translates itself are written as Blender writes them: its own entry comes first.
整定時間 settle time, 減衰比 damping ratio, エイムボーン the aiming bone, 配分 share,
接続先 the destination of a transition, ポップ a sudden jump of the animation from one frame to the next.
"""

import json
from pathlib import Path

_DATA = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

INTERFACE: dict[str, dict[str, str]] = _DATA["interface"]
"""By context, "*" or "Operator", and English text."""
MESSAGES: dict[str, str] = _DATA["messages"]
"""Messages of errors, reports and disabled operators, and the words in them, by their English template."""
