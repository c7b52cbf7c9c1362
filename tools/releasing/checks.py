# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What must hold before a release: one version everywhere, a changelog, no changed bits without a new bits version."""
import json
import re
import subprocess

from . import single_header

RELEASED = re.compile(r"^## (\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\), bits version (\d+)$")
UNRELEASED = re.compile(r"^## Unreleased: (\d+\.\d+\.\d+), bits version (\d+)$")


def number(version):
    return tuple(map(int, version.split(".")))


def check_ports(root, release):
    port = json.loads((root / "vcpkg/ports/isobit/vcpkg.json").read_text())["version"]
    if port != release:
        yield f"vcpkg/ports/isobit/vcpkg.json has version {port}, include/isobit/version.hpp has {release}"
    readme = re.search(r"\bVersion (\d+\.\d+)\b", (root / "README.md").read_text())
    if readme and number(readme[1]) != number(release)[:2]:
        yield f"README.md says version {readme[1]}, include/isobit/version.hpp has {release}"
    wanted = "SameMinorVersion" if number(release)[0] == 0 else "SameMajorVersion"
    if f"COMPATIBILITY {wanted}" not in (root / "cmake/Install.cmake").read_text():
        yield f"cmake/Install.cmake: version {release} needs COMPATIBILITY {wanted}"


def check_namespaces(root, bits):
    for path in sorted((root / "include").rglob("*")):
        found = set(re.findall(r"\binline bits(\d+)\b", path.read_text())) if path.is_file() else set()
        for other in sorted(found - {str(bits)}):
            yield f"{path.relative_to(root)}: namespace bits{other}, but the bits version is {bits}"


def check_changelog(root, release, bits, final):
    sections = re.split(r"(?m)^(?=## )", (root / "CHANGELOG.md").read_text())[1:]
    if not sections:
        yield "CHANGELOG.md has no section '## ...'"
        return
    heading, body = sections[0].split("\n", 1)
    newest, unreleased = RELEASED.match(heading), UNRELEASED.match(heading)
    if not newest and (final or not unreleased):
        form = "## X.Y.Z (YYYY-MM-DD), bits version N"
        yield f"CHANGELOG.md: '{heading}' should be '{form}'" + ("" if final else " or '## Unreleased: X.Y.Z, ...'")
    else:
        found = (newest or unreleased)[1], int((newest or unreleased).groups()[-1])
        if found != (release, bits):
            yield f"CHANGELOG.md: '{heading}', but version.hpp has {release} and bits version {bits}"
    if not re.search(r"(?m)^- ", body):
        yield f"CHANGELOG.md: nothing is listed under '{heading}'"
    if "### Bits" not in body:
        yield f"CHANGELOG.md: '{heading}' has no '### Bits': say what changed, or that nothing did"
    older = [m for s in sections[1:] if (m := RELEASED.match(s.split("\n", 1)[0]))]
    if len(older) != len(sections) - 1:
        yield "CHANGELOG.md: an older section has another form than '## X.Y.Z (YYYY-MM-DD), bits version N'"
    for newer, old in zip([release, *(m[1] for m in older)], older):
        if number(newer) <= number(old[1]):
            yield f"CHANGELOG.md: {newer} stands above {old[1]}"
    for newer, old in zip([(release, bits), *((m[1], int(m[3])) for m in older)], older):
        if newer[1] != int(old[3]) and number(newer[0])[:2] == number(old[1])[:2]:
            yield f"CHANGELOG.md: the bits version changes from {old[3]} to {newer[1]} in a patch release ({newer[0]})"


def git(root, *arguments):
    """git's output, or None where it fails or is not installed."""
    try:
        return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None


def check_golden(root, bits):
    """Golden lines that the last release had must still be there, unless the bits version grew."""
    tag = (git(root, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*") or "").strip()
    if not tag:
        return
    old = re.search(r"int bits_version = (\d+);", git(root, "show", f"{tag}:include/isobit/version.hpp") or "")
    if old and int(old[1]) != bits:
        return
    changed = git(root, "diff", "--numstat", tag, "--", "tests/golden") or ""
    for line in changed.splitlines():
        added, removed, path = line.split("\t")
        if removed != "0":
            yield f"{path}: lines of {tag} are changed or gone, but the bits version is still {bits}"


def check(root, final=False):
    """Every fault as one sentence."""
    release, bits = single_header.version(root / "include")
    faults = [*check_ports(root, release), *check_namespaces(root, bits), *check_changelog(root, release, bits, final),
              *check_golden(root, bits)]
    if final and (git(root, "status", "--porcelain") or "").strip():
        faults.append("the working tree holds changes that are not committed")
    if final and git(root, "rev-parse", "--verify", "--quiet", f"refs/tags/v{release}"):
        faults.append(f"the tag v{release} exists already: raise the version in include/isobit/version.hpp")
    return faults
