#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that every citation resolves: "protocol.md 9.2", "protocol.md 4.1, rule 2", "endpoint.md 16.11",
links of Markdown with their anchors, names of documents, and in documents paths of the tree;
and that a source cites each numbered rule of endpoint.md by its number.

usage: check_citations.py [ROOT]
"""
import os
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).resolve()
SKIPPED = {".git", "build", ".cache", "LICENSES", "__pycache__"}
SOURCES = ("tools/endpoint/", "tools/live/", "tools/sim/")
RULED = "endpoint.md"
NUMBER = r"\d+(?:\.\d+)*"
LIST = rf"{NUMBER}(?:(?:,\s+and\s+|,\s+|\s+and\s+|\s+to\s+){NUMBER})*"
RULES = r"\d+(?:(?:,\s+|\s+and\s+|\s+to\s+)\d+)*"
CITATION = re.compile(rf"(?:\b[Rr]ules?\s+(?P<before>{RULES})\s+of\s+)?(?P<name>\b[\w-]+\.md)\s+(?P<sections>{LIST})"
                      rf"(?:,\s+rules?\s+(?P<after>{RULES}))?")
# Inside of a document with numbers: "(9.2)", "(15.3, rule 2)", "section 9".
SHORT = r"\d{1,2}(?:\.\d{1,2})*"
OWN = re.compile(rf"\((?P<sections>{SHORT}(?:, {SHORT})*)(?:, rules? (?P<rules>{RULES}))?\)|"
                 rf"\b[Ss]ections? (?P<words>{LIST})")
DOCUMENT = re.compile(r"(?<![\w/.*-])(?:[\w.-]+/)*[\w-]+\.md\b")
ELSEWHERE = re.compile(r"\b(?:[Ss]pec|[Ss]pecification|[Dd]esign) \(?\d")
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:captures|docs|include|libcodec|plugin|tests|tools)/[\w./-]*[\w])`")
HEADING = re.compile(r"^(#{1,6}) +(.*)$")


def unfold(text):
    """The text with the lines of a comment joined: each may begin with "#", "*" or "//"."""
    return re.sub(r"\n[ \t]*(?:#|\*|//)?[ \t]*", "\n", text)


def slug(heading):
    """The anchor of a heading, as GitHub and GitLab make it."""
    words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


class Document:
    """The numbered sections of a Markdown text, the numbered rules of each, and the anchors."""

    def __init__(self, text):
        self.rules, self.anchors, self.numbered = {}, set(), []
        section, has_rules, is_code = None, False, False
        for line in text.splitlines():
            if line.startswith("```"):
                is_code = not is_code
            heading = not is_code and HEADING.match(line)
            if heading:
                self.anchors.add(slug(heading[2]))
                number = re.match(rf"({NUMBER})\.? ", heading[2])
                section = number[1] if number else None
                self.rules.setdefault(section, set())
            if not line.startswith("|"):
                has_rules = False
            elif line.startswith("| rule |"):
                has_rules = True
            numbered = not is_code and re.match(rf"\*\*({NUMBER})\*\* ", line)
            if numbered:
                self.numbered.append((section, numbered[1]))
                self.rules.setdefault(numbered[1], set())
            rule = re.match(r"\| (\d+) \|" if has_rules else r"(\d+)\. ", line)
            if rule and not is_code:
                self.rules[section].add(rule[1])
        self.rules.pop(None, None)


def missing(document, sections, rules):
    """The cited sections, and rules of the last section, that the document does not have."""
    numbers = re.findall(NUMBER, sections)
    yield from (number for number in numbers if number not in document.rules)
    for rule in re.findall(r"\d+", rules or ""):
        if rule not in document.rules.get(numbers[-1], {rule}):
            yield f"{numbers[-1]}, rule {rule}"


def expand(numbers):
    """The numbers of a list, with those inside of its ranges: "7 to 9, 16.1 to 16.3"."""
    for first, _, last in re.findall(rf"({NUMBER})(\s+to\s+({NUMBER}))?", numbers):
        head, _, begin = first.rpartition(".")
        if last and last.rpartition(".")[0] == head:
            yield from (f"{head}.{n}" if head else str(n) for n in range(int(begin), int(last.rpartition(".")[2]) + 1))
        else:
            yield first


class Tree:
    """Texts by their path from the root, and all paths of the tree."""

    def __init__(self, texts, paths=()):
        self.texts, self.paths = texts, set(texts) | set(paths)
        self.documents = {path: Document(text) for path, text in texts.items() if path.endswith(".md")}

    def named(self, name):
        return [document for path, document in self.documents.items() if os.path.basename(path) == name]

    def cited(self, text):
        for match in CITATION.finditer(unfold(text)):
            for document in self.named(match["name"])[:1]:
                for number in missing(document, match["sections"], match["before"] or match["after"]):
                    yield f"{match['name']} has no {number}"

    def uncited(self, name):
        """The numbered rules of a document that no source cites by number or range, or that are out of order."""
        cited = set()
        for path, text in self.texts.items():
            for match in CITATION.finditer(unfold(text)) if path.startswith(SOURCES) else ():
                if match["name"] == name:
                    cited |= set(expand(match["sections"]))
        for document in self.named(name):
            last = None
            for section, number in document.numbered:
                before = last[1] if last and last[0] == section else 0
                last = (section, before + 1)
                if number != f"{section}.{before + 1}":
                    yield f"rule {number} is out of order in section {section}"
                elif number not in cited:
                    yield f"no source cites rule {number}"

    def own(self, document, text):
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)
        for match in OWN.finditer(CITATION.sub("", prose)):
            for number in missing(document, match["sections"] or match["words"], match["rules"]):
                yield f"{match[0]}: no section {number}"

    def linked(self, path, text):
        for match in LINK.finditer(text):
            target, _, anchor = match[1].partition("#")
            if re.match(r"[a-z]+:", match[1]):
                continue
            full = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            if full not in self.paths | {"."} and not any(other.startswith(full + "/") for other in self.paths):
                yield f"link to {match[1]}: no such file"
            elif anchor and full in self.documents and anchor not in self.documents[full].anchors:
                yield f"link to {match[1]}: no such heading"

    def pathed(self, text):
        """A path may lack its ending: `tools/sim/link` is link.c and link.h."""
        known = "\n".join(["", *sorted(self.paths)])
        for match in PATH.finditer(text):
            if not re.search(rf"\n{re.escape(match[1])}(?:[./]|$)", known, re.M):
                yield f"{match[1]} is not in the tree"

    def faults(self):
        names = {os.path.basename(path) for path in self.paths}
        for path, text in sorted(self.texts.items()):
            found = list(self.cited(text))
            found += [f"{match[0]} is not in the tree" for match in DOCUMENT.finditer(text)
                      if os.path.basename(match[0]) not in names]
            found += [f"\"{match[0]}\" is not in the tree" for match in ELSEWHERE.finditer(text)]
            if path in self.documents:
                found += [*self.linked(path, text), *self.pathed(text)]
                if self.documents[path].rules:
                    found += self.own(self.documents[path], text)
            if os.path.basename(path) == RULED:
                found += self.uncited(RULED)
            yield from (f"{path}: {fault}" for fault in found)


class Faults(unittest.TestCase):
    """Planted faults are found, and correct citations are not reported."""
    GUIDE = "# Guide\n\n## 1. One\n\n1. First.\n2. Second.\n\n### 1.1 Table\n\n| rule | text |\n|---|---|\n| 7 | x |\n"

    def faults_of(self, text, path="a.c"):
        return list(Tree({"docs/guide.md": self.GUIDE, path: text}).faults())

    def test_right(self):
        for text in ("(guide.md 1)", "guide.md 1, 1.1; docs/guide.md 1", "guide.md 1, rules 1 and 2",
                     "guide.md 1.1, rule 7", "Rule 2 of guide.md 1", "/* see guide.md\n   1.1 */",
                     "# guide.md 1,\n# rule 2"):
            self.assertEqual(self.faults_of(text), [], text)
        for text in ("[x](guide.md#1-one)", "[x](#here)\n# Here", "![x](../a.png)", "[x](https://host/x.md)",
                     "[x](..)", "`docs`, `docs/guide`, `docs/guide.md`"):
            tree = Tree({"docs/guide.md": self.GUIDE, "docs/b.md": text}, ["a.png"])
            self.assertEqual(list(tree.faults()), [], text)

    def test_rules(self):
        text = "# Rules\n\n## 1. One\n\n**1.1** First.\n\n**1.2** Second.\n\n## 2. Two\n\n**2.1** Third.\n"
        for citing, count in (("endpoint.md 1.1, 1.2, and 2.1", 0), ("endpoint.md 1.1 to 1.2, 2.1", 0),
                              ("endpoint.md 1 and 2.1", 2), ("endpoint.md 1.1, 2", 2), ("endpoint.md 1 to 2", 3),
                              ("endpoint.md 1.1 to 1.2, 2.2", 2)):
            tree = Tree({"docs/endpoint.md": text, "tools/sim/a.c": citing})
            self.assertEqual(len(list(tree.faults())), count, citing)
        tree = Tree({"docs/endpoint.md": text.replace("**1.2**", "**1.3**"), "tools/sim/a.c": "endpoint.md 1.1, 1.3, 2.1"})
        self.assertEqual(len(list(tree.faults())), 1)

    def test_planted(self):
        for text in ("(guide.md 2)", "guide.md 1, 1.2", "guide.md 1 to 3", "guide.md 1, rule 3",
                     "guide.md 1.1, rules 7 and 8", "Rules 2 and 3 of guide.md 1", "/* see guide.md\n   1.2 */",
                     "# guide.md\n# 4", "(other.md)", "(spec 3.2)", "the specification (5.4)", "docs/other.md 1"):
            self.assertEqual(len(self.faults_of(text)), 1, text)
        for text in ("[x](guide.md#two)", "[x](none.png)", "[x](#here)", "`docs/guid`", "`docs/guide.md/x`"):
            self.assertEqual(len(self.faults_of(text, "docs/b.md")), 1, text)
        for text in ("(3.1)", "section 2", "(1, rule 9)", "(1, 4)"):
            self.assertEqual(len(self.faults_of("## 1. A\n\n" + text, "docs/b.md")), 1, text)


def read_tree(root):
    texts, paths = {}, []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED]
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), root)
            paths.append(path)
            data = pathlib.Path(folder, name).read_bytes()
            if b"\0" not in data and not name.endswith((".json", ".jsonl")) and name != HERE.name:  # this file has faults on purpose
                texts[path] = data.decode("utf-8", "replace")
    return Tree(texts, paths)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else next(each for each in HERE.parents if (each / "docs").is_dir())
    tested = unittest.TextTestRunner(verbosity=0).run(unittest.defaultTestLoader.loadTestsFromTestCase(Faults))
    faults = list(read_tree(root).faults())
    print("\n".join(faults) if faults else "citations: all resolve")
    return 1 if faults or not tested.wasSuccessful() else 0


if __name__ == "__main__":
    sys.exit(main())
