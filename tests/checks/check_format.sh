#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every C and C++ source is as clang-format leaves it. CONTRIBUTING.md has the command that formats.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
find libcodec plugin tests tools -name '*.[ch]' -o -name '*.cpp' | xargs clang-format-19 --dry-run -Werror
