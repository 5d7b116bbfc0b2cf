# SPDX-License-Identifier: MIT
"""Results of the benchmarks that are scripts; those in C have report.h."""
import json
import sys


class Report:
    """Lines: BENCH id value unit anchor=name:value ratio=r goal=must/stretch PASS|FAIL|INFO"""

    def __init__(self, as_json):
        self.as_json = as_json
        self.is_valid = True

    def invalid(self, why):
        self.is_valid = False
        print(f"INVALID: {why}")

    def header(self, **facts):
        print(json.dumps(facts) if self.as_json else "# " + ", ".join(f"{k} {v}" for k, v in facts.items()))

    def line(self, name, value, unit, anchor=None, must=None, stretch=None, least=False, judged="ratio"):
        """judged: what the goals bound, the ratio to the anchor or the value; least: from below."""
        ratio = value / anchor[1] if anchor else None
        measure = ratio if judged == "ratio" and anchor else value
        met = must is None or (measure >= must if least else measure <= must)
        verdict = "INFO" if must is None else "PASS" if met else "FAIL"
        if self.as_json:
            print(json.dumps({"id": name, "value": value, "unit": unit, "anchor": anchor, "ratio": ratio,
                              "must": must, "stretch": stretch, "verdict": verdict}))
        else:
            parts = [f"BENCH {name} {value:.4g} {unit}"]
            if anchor:
                parts.append(f"anchor={anchor[0]}:{anchor[1]:.4g} ratio={ratio:.2f}")
            if must is not None:
                parts.append(f"goal={'>=' if least else ''}{must}/{stretch}")
            print(*parts, verdict)
        sys.stdout.flush()
