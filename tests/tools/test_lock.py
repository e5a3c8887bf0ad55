"""The lock files and pyproject.toml agree, and every pin has its hashes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")


def pins(lock: Path) -> list[tuple[Requirement, str]]:
    """Each pin with the text that follows it up to the next."""
    text = lock.read_text(encoding="utf-8")
    starts = [match.start() for match in re.finditer(r"^[A-Za-z0-9]", text, re.MULTILINE)]
    blocks = [text[start:stop] for start, stop in zip(starts, [*starts[1:], len(text)])]
    return [(Requirement(block.partition("\\\n")[0]), block) for block in blocks]


def asked_for(name: str) -> list[Requirement]:
    """What a lock file is made from, an extra of the package itself resolved."""
    lines = (ROOT / "requirements" / f"{name}.in").read_text(encoding="utf-8").splitlines()
    wanted = [Requirement(line) for line in lines if line and not line.startswith("#")]
    if name not in ("dev", "docs", "run"):
        return wanted
    tomllib = pytest.importorskip("tomllib", reason="Python 3.11 reads TOML")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted += map(Requirement, project["dependencies"])
    extras, seen = [] if name == "run" else [name], set()
    while extras:
        extra = extras.pop()
        if extra in seen:
            continue
        seen.add(extra)
        for text in project["optional-dependencies"][extra]:
            requirement = Requirement(text)
            if requirement.name == project["name"]:
                extras += requirement.extras
            else:
                wanted.append(requirement)
    return wanted


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_every_pin_has_hashes_and_no_address(lock: Path) -> None:
    found = pins(lock)
    assert found
    for requirement, block in found:
        assert re.fullmatch(r"==[^,*]+", str(requirement.specifier)), requirement
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", block), requirement
    text = lock.read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"(?:^|\s)/", text)


@pytest.mark.parametrize("python", VERSIONS)
@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_what_is_asked_for_is_pinned_once_for_each_python(lock: Path, python: str) -> None:
    if lock.stem == "docs" and python == "3.10":
        pytest.skip("the site is built on Python 3.11 or later")
    marker = {"python_version": python, "python_full_version": f"{python}.1", "sys_platform": "linux"}
    marker |= {
        "platform_machine": "x86_64",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    installed: dict[str, Requirement] = {}
    for requirement, _ in pins(lock):
        if requirement.marker is None or requirement.marker.evaluate(marker):
            name = canonicalize_name(requirement.name)
            assert name not in installed, f"two versions of {name} for Python {python}"
            installed[name] = requirement
    for wanted in asked_for(lock.stem):
        (pin,) = installed[canonicalize_name(wanted.name)].specifier
        assert wanted.specifier.contains(pin.version, prereleases=True), f"{lock.name} has {pin}, {wanted} is asked for"
