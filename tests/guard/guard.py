#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the output of program and plugin for every capture with the hashes of hashes.txt, and print what changed.

guard.py [--base COMMIT]          compare; where a hash differs, build COMMIT (by default the last commit that changed
                                  hashes.txt) and print the difference between its output and this one
guard.py update                   write hashes.txt; the commit explains each change
guard.py write FOLDER [ROW...]    write the hashed outputs as text; a row is, for example, captures/login.info

It reads the captures of this tree, the recordings of the folder UERUDP_SHARED and 200 captures that it generates. UERUDP_BUILD
is the build folder, by default build/dev. After a merge conflict in hashes.txt choose either side, and update.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HASHES = HERE / "hashes.txt"
BUILD = pathlib.Path(os.environ.get("UERUDP_BUILD") or ROOT / "build/dev")
JOBS = 2
KINDS_SHOWN = 15
LINES_SHOWN = 20
NUMBERS = re.compile(r"[01.][01. ]{7,}|\b[0-9a-f]*\d[0-9a-f]*\b")  # bits of a byte as Wireshark prints them, or a number


def built(folder):
    """The program and the plugin of a build folder, as the environment variables that name them."""
    program = folder / "tools/uerudp"
    plugin = next(folder.glob("plugins/**/uerudp.so"), None)
    if not program.is_file() or not plugin:
        sys.exit(f"guard: {folder} has no program and plugin; build them first")
    return {"UERUDP_PROGRAM": str(program), "UERUDP_PLUGINS": str(folder / "plugins")}


for variable, value in ({} if {"UERUDP_PROGRAM", "UERUDP_PLUGINS"} <= os.environ.keys() else built(BUILD)).items():
    os.environ.setdefault(variable, value)
import outputs


def hash_group(group, left_out):
    return [((name, view), hashlib.sha256(text).hexdigest()[:16])
            for name, view, text in outputs.outputs(group, lambda _, view: view not in left_out)]


def write_group(group, folder, rows):
    for name, view, text in outputs.outputs(group, lambda name, view: not rows or f"{name}.{view}" in rows):
        path = pathlib.Path(folder, f"{name}.{view}.txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(outputs.readable(view, text), encoding="utf-8")


def in_parallel(function, captures, *arguments):
    """The results of the function for groups of captures."""
    with concurrent.futures.ProcessPoolExecutor(JOBS) as pool:
        return [result.result() for result in
                [pool.submit(function, group, *arguments) for group in outputs.groups(captures)]]


def hashes_now(left_out=()):
    """{(capture, view): hash} without the views of left_out."""
    return dict(row for rows in in_parallel(hash_group, outputs.captures(), left_out) for row in rows)


def write(folder, rows):
    names = {row.rpartition(".")[0] for row in rows}
    in_parallel(write_group, [each for each in outputs.captures() if not rows or each.name in names], folder, set(rows))


def recorded():
    """The version of Wireshark and the rows of hashes.txt."""
    version, rows = None, {}
    for line in HASHES.read_text(encoding="utf-8").splitlines() if HASHES.exists() else []:
        words = line.split()
        if words[:2] == ["#", "Wireshark"]:
            version = words[2]
        elif not line.startswith("#"):
            rows[words[0], words[1]] = words[2]
    return version, rows


def is_recording(row):
    return row[0].startswith("realdata/")


def changes(before, now):
    """The rows that differ, each with the kind of its change."""
    return {row: "new" if row not in before else "gone" if row not in now else "differs"
            for row in sorted(before.keys() | now.keys()) if before.get(row) != now.get(row)}


def comparable(rows, version):
    """The rows that this machine can compare, and the views that it cannot; prints what it leaves out."""
    left_out = ()
    if not outputs.recordings.has_shared():
        count = sum(map(is_recording, rows))
        outputs.recordings.skipped(f"the comparison of {count} rows of recordings")
        rows = {row: text for row, text in rows.items() if not is_recording(row)}
    if version != outputs.wireshark_version():
        left_out = ("wireshark",)
        count = sum(view in left_out for _, view in rows)
        print(f"left out: {count} rows that Wireshark {version} made; this is {outputs.wireshark_version()}")
        rows = {row: text for row, text in rows.items() if row[1] not in left_out}
    return rows, left_out


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], check=True, capture_output=True).stdout


def build_base(commit):
    """The folder of a built commit. It replaces an earlier base."""
    name = git("rev-parse", "--short=12", f"{commit}^{{commit}}").decode().strip()
    folder = BUILD / "guard/base" / name
    if not (folder / "built").exists():
        shutil.rmtree(folder.parent, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run(["tar", "-x", "-C", folder], input=git("archive", name), check=True)
        for command in (["cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build", "-DCMAKE_BUILD_TYPE=Debug",
                         "-DBUILD_TESTING=OFF"], ["cmake", "--build", folder / "build", "--parallel", str(JOBS)]):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (folder / "built").touch()
    return folder


def write_both(found, commit):
    """Write the outputs of the rows that differ, of the base and of this tree."""
    rows = [f"{name}.{view}" for name, view in found]
    base = build_base(commit)
    before, now = BUILD / "guard/before", BUILD / "guard/now"
    for folder in (before, now):
        shutil.rmtree(folder, ignore_errors=True)
    environment = {**os.environ, "UERUDP_BUILD": str(base / "build"), "UERUDP_SHARED": str(outputs.recordings.SHARED),
                   **built(base / "build")}
    subprocess.run([sys.executable, "-B", base / HERE.relative_to(ROOT) / "guard.py", "write", before, *rows],
                   env=environment, check=True)
    write(now, rows)
    return before, now


def hunks(before, now):
    """The places where two files differ, as lists of lines; one of the files may be absent."""
    paths = [path if path.exists() else os.devnull for path in (before, now)]
    printed = subprocess.run(["diff", "--text", "-U1", "-F", "^[a-z]", *paths], stdout=subprocess.PIPE, check=False).stdout
    found = []
    for line in printed.decode(errors="replace").splitlines()[2:]:
        if line.startswith("@@"):
            found.append([])
        found[-1].append(line)
    return found


def kind(hunk):
    """The change without its numbers: changes of one kind are printed once."""
    return tuple(NUMBERS.sub("#", line) for line in hunk if line[0] in "+-")


def show(found, before, now):
    """Print an example of each kind of change, beginning with the kind of most rows."""
    examples, rows = {}, collections.defaultdict(collections.Counter)
    for name, view in found:
        for hunk in hunks(before / f"{name}.{view}.txt", now / f"{name}.{view}.txt"):
            examples.setdefault(kind(hunk), hunk)
            rows[kind(hunk)][f"{name} {view}"] += 1
    kinds = sorted(examples, key=lambda each: -len(rows[each]))
    for each in kinds[:KINDS_SHOWN]:
        print(f"\nin {len(rows[each])} rows, {sum(rows[each].values())} places, for example {next(iter(rows[each]))}:")
        print("\n".join(examples[each][:LINES_SHOWN]))
        if len(examples[each]) > LINES_SHOWN:
            print(f"... {len(examples[each]) - LINES_SHOWN} more lines")
    print(f"\n{min(len(kinds), KINDS_SHOWN)} of {len(kinds)} kinds of change are shown; all is in\n{before} and\n{now}")


def summary(found):
    """The number of rows of each view that differ."""
    count = collections.Counter((view, what) for (_, view), what in found.items())
    return ", ".join(f"{number} {view} {what}" for (view, what), number in sorted(count.items()))


def compare(base):
    version, rows = recorded()
    before, left_out = comparable(rows, version)
    now = hashes_now(left_out)
    found = changes(before, now)
    print(f"{len(now)} rows compared, {len(found)} of them not as in {HASHES.relative_to(ROOT)}")
    if not found:
        return 0
    print(summary(found), flush=True)
    try:
        base = base or git("log", "-1", "--format=%H", "--", HASHES).decode().strip()
        show(found, *write_both(found, base))
    except (OSError, subprocess.CalledProcessError) as error:
        print("\n".join(f"{what}: {name} {view}" for (name, view), what in list(found.items())[:LINES_SHOWN]))
        reason = error if (ROOT / ".git").exists() else "this is no git clone"
        print(f"no difference to print, because the base cannot be built: {reason}")
    print("where this is meant: tests/guard/guard.py update")
    return 1


def update():
    version, before = recorded()
    rows = {row: text for row, text in before.items() if is_recording(row) and not outputs.recordings.has_shared()}
    rows |= hashes_now()
    found = changes(before, rows)
    lines = ["# SPDX-License-Identifier: MIT", "# Written by guard.py update: capture, view, hash.",
             f"# Wireshark {outputs.wireshark_version()}", *(" ".join([*row, text]) for row, text in sorted(rows.items()))]
    HASHES.write_text("\n".join([*lines, ""]), encoding="utf-8")
    print(f"{len(rows)} rows: {summary(found) or 'as they were'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", metavar="COMMIT")
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("update")
    writer = commands.add_parser("write")
    writer.add_argument("folder")
    writer.add_argument("captures", nargs="*")
    options = parser.parse_args()
    if options.command == "update":
        update()
    elif options.command == "write":
        write(options.folder, options.captures)
    else:
        sys.exit(compare(options.base))


if __name__ == "__main__":
    main()
