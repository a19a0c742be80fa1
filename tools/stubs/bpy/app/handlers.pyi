# Blender has no type information: whatever is in these modules is of any type.
from typing import Any

def __getattr__(name: str) -> Any: ...
