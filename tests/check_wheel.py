"""What the wheel holds: every module and data file of the package, its licence, and nothing else."""

import sys
import zipfile
from pathlib import Path


def main(wheel: str) -> None:
    source = Path(__file__).parents[1] / "src"
    ignored = {"__pycache__"}
    expected = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and not ignored & set(path.parts)
    }
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
        metadata = archive.read(next(name for name in held if name.endswith("/METADATA"))).decode()
    packaged = {name for name in held if not name.split("/")[0].endswith(".dist-info")}
    problems = [f"lacks {name}" for name in sorted(expected - packaged)]
    problems += [f"holds {name}, which is not in src" for name in sorted(packaged - expected)]
    for wanted in ("comitia/py.typed", "comitia/__init__.py"):
        if wanted not in held:
            problems.append(f"lacks {wanted}")
    if not any(name.endswith("licenses/LICENSE") for name in held):
        problems.append("lacks its licence")
    for line in ("Name: comitia", "License-Expression: BSD-3-Clause", "Requires-Python: >=3.11"):
        if line not in metadata:
            problems.append(f"its metadata lacks {line!r}")
    if problems:
        sys.exit(f"{wheel}:\n  " + "\n  ".join(problems))
    print(f"{Path(wheel).name}: {len(packaged)} files, as they should be")


if __name__ == "__main__":
    main(sys.argv[1])
