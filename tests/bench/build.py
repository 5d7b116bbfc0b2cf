# SPDX-License-Identifier: MIT
"""The build that is measured: the preset bench, with the flags of the preset release."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("UERUDP_BUILD_ROOT", ROOT / "build")) / "bench"
SHARED = os.environ.get("UERUDP_SHARED", str(ROOT.parent / "shared"))


def build(target):
    """Build what measures and what is measured."""
    configure = ["cmake", "-S", ROOT, "--preset", "bench", "-B", BUILD, f"-DUERUDP_SHARED={SHARED}"]
    for command in configure, ["cmake", "--build", BUILD, "--target", target, "--parallel", str(os.cpu_count())]:
        result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode != 0:
            sys.exit(result.stdout + f"{sys.argv[0]}: the preset bench cannot be built")
