"""The script that says how large the code is: it goes on when a package begins to import from another one."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_imports_of_what_is_not_measured_are_left_out(tmp_path, capsys) -> None:
    spec = spec_from_file_location("measure", ROOT / "tools" / "measure.py")
    assert spec is not None and spec.loader is not None
    measure = module_from_spec(spec)
    spec.loader.exec_module(measure)
    for name, text in {
        "operators/add.py": "from ..rig import edit\n",
        "rig/edit.py": "from ..assets import example\n",
        "assets/example.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    measure.print_imports(tmp_path)
    assert capsys.readouterr().out.split("\n")[0].split()[-2:] == ["2", "files"]
