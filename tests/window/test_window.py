"""What a user does in Blender's window: each scenario in `scenarios/` is a test.

`LOOKAT_PD_WINDOW=1 BLENDER=… pytest tests/window` runs them; pictures of each end are in build/window.
"""

import pytest

from .conftest import FOLDER, SCENARIOS


@pytest.mark.window
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_window(scenario: str, results) -> None:
    result = results[scenario]
    if result.outcome == "skipped":
        pytest.skip(result.text)
    if result.outcome == "failed":
        pytest.fail(f"{result.text}\n\nBlender printed:\n{result.output}\n\nPictures: {FOLDER}", pytrace=False)
