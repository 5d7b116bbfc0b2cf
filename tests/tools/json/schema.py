# SPDX-License-Identifier: MIT
"""The JSON schema of the program's output, for tests."""
import json
import sys

import recordings

try:
    import jsonschema
except ImportError:  # Debian: python3-jsonschema
    sys.exit(77)

SCHEMA = json.loads((recordings.ROOT / "docs/uerudp.schema.json").read_text())


def validator(kind=None):
    """A validator of objects of one kind, a definition of the schema, or of any kind."""
    rule = {"$ref": f"#/$defs/{kind}"} if kind else {"anyOf": SCHEMA["anyOf"]}
    return jsonschema.Draft202012Validator({**rule, "$defs": SCHEMA["$defs"]})


def check(kind, objects):
    """Assert that there are objects and that each is of this kind."""
    validate = validator(kind)
    objects = list(objects)
    assert objects, kind
    for value in objects:
        worst = jsonschema.exceptions.best_match(validate.iter_errors(value))
        if worst is not None:
            raise AssertionError(f"{kind}: {worst.json_path}: {worst.message[:300]}\n{json.dumps(value)[:2000]}")


def lines(output):
    return [json.loads(line) for line in output.splitlines()]
