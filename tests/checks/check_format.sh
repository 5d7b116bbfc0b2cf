#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# clang-format changes no C or C++ source. CONTRIBUTING.md has the command that formats.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
find libcodec plugin tests tools -name '*.[ch]' -o -name '*.cpp' | xargs clang-format-19 --dry-run -Werror
