#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Opens Wireshark's windows in a virtual X server and prints the rows that they show, as JSON.

usage: window.py SECONDS FOLDER CAPTURE STEP...
       window.py SECONDS FOLDER CAPTURE '["live", FIRST_BYTES, PACKETS]' STEP...

Rows are read through the accessibility interface (AT-SPI): no pixels, no fonts. Debian's Python has its bindings. Each
wait ends with its condition, or after SECONDS. STEP is a JSON list: a path of menu entries, or one of the words in
DIALOGS. FOLDER holds the files of the user's home. With the step "live", Wireshark captures from a pipe: the first bytes
of CAPTURE are in it from the start, the rest follows when their packets are shown. ["live", FIRST_BYTES, PACKETS, FIRST]
dissects the first packets, FIRST in number, again before the rest follows, and ends the capture when all are shown.
"""
import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time

PAUSE_S = 0.1
TYPING_S = 1  # after this pause, typing in a list starts a new search
CALL_MS, PRESS_MS, START_MS = 20000, 500, 60000
OUR_PAGE = "ueru"  # what the user types to get from "Protocols" to the page of uerudp
AGAIN = 3  # after this part of the limit without a window, the entry is pressed again: on a busy machine one press had no effect
SMALL_TABLE = 100
PACKET_COLUMNS = 7
INSET = 5
BUTTON, TABLE = ("push button", "button"), ("tree", "table", "tree table")  # names in the Qt releases
PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
CONFIGURATION = {
    "recent": "gui.conversation_tabs: UERUDP\ngui.endpoint_tabs: UERUDP\n",
    "io_graphs": '"Enabled","Packet ids","","#1B5E20","Line","MAX(Y Field)","uerudp.packet.id","None","1"\n',
}


class Failure(Exception):
    """Wireshark exited, or the expected event did not occur."""


def start(command, **options):
    """A process that ends with this one."""
    libc = ctypes.CDLL(None)
    return subprocess.Popen(command, preexec_fn=lambda: libc.prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL), **options)


@contextlib.contextmanager
def ended(process):
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def display(folder):
    """A private X server and message bus, in the environment. Without -noreset the X server would reset when its first
    client disconnects."""
    reader, writer = os.pipe()
    server = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1600x1200x24", "-nolisten", "tcp", "-noreset"]
    with ended(start(server, pass_fds=[writer], stderr=subprocess.DEVNULL)):
        os.close(writer)
        number = os.read(reader, 16).decode().strip()
        runtime = os.path.join(folder, "run")
        os.mkdir(runtime, 0o700)
        os.environ.update(DISPLAY=":" + number, XDG_RUNTIME_DIR=runtime, QT_ACCESSIBILITY="1",
                          QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1", LC_ALL="C.UTF-8")
        bus = ["dbus-daemon", "--session", "--nofork", "--print-address=1"]
        with ended(start(bus, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)) as process:
            os.environ["DBUS_SESSION_BUS_ADDRESS"] = process.stdout.readline().strip()
            yield


def plain(name):
    return (name or "").replace("&", "").replace("…", "").replace("...", "").strip()


class Wireshark:
    """The running program as its user sees it."""

    def __init__(self, process, limit_s, resume=None):
        import gi
        gi.require_version("Atspi", "2.0")
        from gi.repository import Atspi, GLib
        self.atspi, self.error = Atspi, GLib.Error
        self.process, self.limit_s, self.resume = process, limit_s, resume
        Atspi.set_timeout(CALL_MS, START_MS)
        Atspi.init()
        self.main = self.wait("the main window", self.find_main)
        self.wait("packets", lambda: self.rows(self.main))

    def wait(self, what, find, is_required=True, limit_s=None):
        """The result of find, once it is not empty."""
        end = time.monotonic() + (limit_s or self.limit_s)
        while True:
            try:
                found = find()
            except self.error:
                found = None
            if self.process.poll() is not None:
                raise Failure(f"Wireshark died, status {self.process.returncode}, waiting for {what}")
            if found or time.monotonic() > end:
                break
            time.sleep(PAUSE_S)
        if not found and is_required:
            raise Failure(f"in {self.limit_s} s there was not: {what}")
        return found

    def children(self, node):
        """Empty for a node that no longer exists."""
        if node is None:
            return []
        nodes = (node.get_child_at_index(i) for i in range(node.get_child_count()))
        return [child for child in nodes if child is not None]

    def below(self, node):
        for child in self.children(node):
            yield child
            if child.get_role_name() not in (*TABLE, "menu bar"):
                yield from self.below(child)

    def find(self, node, roles, name=None):
        return [child for child in self.below(node)
                if child.get_role_name() in roles and (name is None or plain(child.get_name()) == name)]

    def find_main(self):
        desktop = self.atspi.get_desktop(0)
        for program in self.children(desktop):
            for window in self.children(program):
                if plain(program.get_name()) == "Wireshark" and self.find(window, ("menu bar",)):
                    return window
        return None

    def windows(self):
        return [window for window in self.children(self.main.get_parent()) if window != self.main
                and window.get_state_set().contains(self.atspi.StateType.SHOWING)]

    def new_windows(self, known):
        return [window for window in self.windows() if window not in known]

    # ---- rows ----

    def tables(self, node):
        return self.find(node, TABLE)

    def rows_of(self, table):
        cells = self.children(table)
        width = sum(cell.get_role_name() == "table column header" for cell in cells)
        texts = [cell.get_name() for cell in cells if cell.get_role_name() == "table cell"]
        return [texts[i:i + width] for i in range(0, len(texts), width)] if width else []

    def rows(self, node):
        return [row for table in self.tables(node) for row in self.rows_of(table)]

    # ---- input ----

    def press(self, node):
        """A modal window that the press opens delays the answer until it closes."""
        self.atspi.set_timeout(PRESS_MS, START_MS)
        with contextlib.suppress(self.error):
            self.atspi.Action.do_action(node, 0)
        self.atspi.set_timeout(CALL_MS, START_MS)

    def entry(self, path):
        node, = self.find(self.main, ("menu bar",))
        for name in path:
            entries = self.children(node)
            if len(entries) == 1 and not plain(entries[0].get_name()):
                entries = self.children(entries[0])
            node = next((entry for entry in entries if plain(entry.get_name()) == name), None)
            if node is None:
                return None
        return node

    def is_enabled(self, node):
        return node.get_state_set().contains(self.atspi.StateType.SENSITIVE)

    def open(self, path):
        """The window that a menu entry opens."""
        entry = self.wait(f"the entry {path}", lambda: self.entry(path))
        self.wait(f"the entry {path}, enabled", lambda: self.is_enabled(entry))
        before = self.windows()
        self.press(entry)
        if not self.wait("", lambda: self.new_windows(before), is_required=False, limit_s=self.limit_s / AGAIN):
            self.press(entry)
        return self.wait(f"the window of {path}", lambda: self.new_windows(before))[0]

    def close(self, window):
        for name in ("Cancel", "Close"):
            buttons = self.find(window, BUTTON, name)
            if buttons:
                self.press(buttons[0])
                self.wait(f"that {window.get_name()} closes", lambda: window not in self.windows())
                return

    def xdotool(self, *arguments):
        subprocess.run(["xdotool", *map(str, arguments)], check=True, timeout=self.limit_s, stdout=subprocess.DEVNULL)

    def click(self, node):
        """Near its left side: the list may be narrower than its cells."""
        box = self.atspi.Component.get_extents(node, self.atspi.CoordType.SCREEN)
        self.xdotool("mousemove", box.x + INSET, box.y + box.height // 2, "click", 1)

    # ---- particular windows ----

    def shown(self, path, read):
        """What the window of a menu entry shows. One that stays empty is opened again: on a busy machine, Wireshark's list
        of endpoints once did."""
        for _ in range(2):
            window = self.open(path)
            rows = self.wait(f"rows of {path}", lambda opened=window: read(opened), is_required=False,
                             limit_s=self.limit_s / 2)
            self.close(window)
            if rows:
                return rows
        return []

    def table(self, path):
        """Any window with tables: rows as soon as some are not about another protocol."""
        return self.shown(path, self.rows)

    def conversations(self, path):
        """Rows of the page of uerudp: after the tree of protocols, pages are in the order of their tabs."""
        def ours(window):
            tabs = self.find(window, ("page tab",))
            mine = [i for i, tab in enumerate(tabs) if plain(tab.get_name()).startswith("UERUDP")]
            pages = self.find(window, ("layered pane",))
            tables = self.tables(pages[0]) if pages else []
            return self.rows_of(tables[mine[0]]) if mine and mine[0] < len(tables) else []
        return self.shown(path, ours)

    def follow(self, path):
        """The lines of the stream."""
        def lines(window):
            texts = [self.atspi.Text.get_text(node, 0, -1) for node in self.find(window, ("text",))]
            return [[line] for line in max(texts, key=len, default="").splitlines()]
        return self.shown(path, lines)

    def export_pdus(self, path):
        window = self.open(path)
        items = self.wait(f"items of {path}", lambda: self.find(window, ("list item",)), is_required=False)
        self.close(window)
        return [[item.get_name()] for item in items]

    def graph(self, path):
        """The values that the graph copies to the clipboard."""
        window = self.open(path)
        self.wait("graphs", lambda: self.rows(window))
        copy = self.wait("the button Copy", lambda: self.find(window, BUTTON, "Copy"))[0]

        def values():
            self.press(copy)
            clipboard = subprocess.run(["xclip", "-o", "-selection", "clipboard"], capture_output=True, text=True,
                                       timeout=self.limit_s, check=False).stdout
            lines = [line.split(",") for line in clipboard.splitlines()]
            return [line for line in lines[1:] if any(float(cell or 0) for cell in line[1:])] and lines
        rows = self.wait("values of the graph", values, is_required=False)
        self.close(window)
        return rows or []

    def packet_lists(self):
        """Rows of the packet list; the window has other tables, also hidden ones."""
        return [rows for rows in map(self.rows_of, self.tables(self.main)) if rows and len(rows[0]) == PACKET_COLUMNS]

    def packets(self, count):
        """The packet list, once it has that many rows."""
        def complete():
            return [rows for rows in self.packet_lists() if len(rows) >= count]
        return self.wait("all packets", complete)[0]

    def is_ignored(self, count, number):
        return "<Ignored>" in self.packets(count)[number - 1][-1]

    def cell_of(self, number):
        """The first cell of a packet in the packet list."""
        for table in self.tables(self.main):
            for cell in self.children(table):
                if cell.get_role_name() == "table cell" and cell.get_name() == str(number):
                    return cell
        return None

    def redissected(self, path):
        """The packet list after one packet was ignored, and no longer: Wireshark dissects all packets twice."""
        count, number = path
        self.packets(count)
        self.click(self.wait("the packet", lambda: self.cell_of(number)))
        for is_ignored in (True, False):
            self.xdotool("key", "ctrl+d")
            self.wait("the packet, dissected again", lambda wanted=is_ignored: self.is_ignored(count, number) == wanted)
        return self.packets(count)

    def reloaded(self, path):
        """The packet list after Wireshark has read the file again."""
        self.xdotool("key", "ctrl+r")
        time.sleep(TYPING_S)
        return self.packets(*path)

    def filtered(self, path):
        """The packet list with a display filter that so many packets pass."""
        text, count = path
        self.xdotool("key", "ctrl+slash")
        self.xdotool("type", text)
        self.xdotool("key", "Return")

        def few():
            return [rows for rows in self.packet_lists() if len(rows) == count]
        return self.wait("the packets that pass", few)[0]

    def live(self, path):
        """The packet list at the end of a live capture whose first packets were shown before the others arrived."""
        _, packets, *first = path
        if first:
            self.redissected((*first, 5))
        self.resume()
        rows = self.packets(packets)
        if first:
            self.process.stdin.close()
            self.wait("the end of the capture", lambda: not self.is_enabled(self.entry(["Capture", "Stop"])))
        return rows

    def our_page(self, window):
        """The page of uerudp in the window of the preferences, opened."""
        self.click(self.wait("the list of pages", lambda: self.list_of_pages(window))["Protocols"])
        self.xdotool("key", "Right")

        def ours():
            self.xdotool("type", OUR_PAGE)
            time.sleep(TYPING_S)
            return self.find(window, ("check box",), "Analyse connections")
        return self.wait("our page", ours)[0].get_parent()

    def page(self, path):
        """The names on the page of uerudp in the preferences, and of the tables that its buttons open."""
        window = self.open(path)
        page = self.our_page(window)
        rows = [[plain(node.get_name())] for node in self.below(page)]
        for button in self.find(page, BUTTON, "Edit"):
            before = self.windows()
            self.press(button)
            table = self.wait("the table of a preference", lambda known=before: self.new_windows(known))[0]
            rows.append([plain(table.get_name())])
            self.close(table)
        self.close(window)
        return rows

    def preferred(self, path):
        """The packet list, once a packet has a text in its last column or has it no more, after the user changed a
        preference: toggled a check box, or typed into the field beside a label."""
        count, title, value, number, text, is_wanted = path
        window = self.open(["Edit", "Preferences"])
        page = self.our_page(window)
        if value is None:
            self.press(self.find(page, ("check box",), title)[0])
        else:
            nodes = list(self.below(page))
            label = next(i for i, node in enumerate(nodes) if plain(node.get_name()).rstrip(":") == title)
            self.type_into(next(node for node in nodes[label + 1:] if node.get_role_name() == "text"), value)
        self.accept(window)

        def shown():
            rows = self.packets(count)
            return rows if (text in rows[number - 1][-1]) == is_wanted else None
        return self.wait(f"packet {number} {'with' if is_wanted else 'without'} {text}", shown)

    def type_into(self, field, text):
        box = self.atspi.Component.get_extents(field, self.atspi.CoordType.SCREEN)
        self.xdotool("mousemove", box.x + box.width // 2, box.y + box.height // 2, "click", 1, "key", "ctrl+a")
        self.xdotool("type", text)
        self.wait(f"the field with {text}", lambda: self.atspi.Text.get_text(field, 0, -1) == text)

    def accept(self, window):
        self.press(self.wait("the button OK", lambda: self.find(window, BUTTON, "OK"))[0])
        self.wait(f"that {window.get_name()} closes", lambda: window not in self.windows())

    def profile(self, path):
        """The titles of the columns of the packet list after the user selected a profile, once they are so many."""
        count, name, columns = path
        window = self.open(["Edit", "Configuration Profiles"])

        def named():
            return [cell for table in self.tables(window) for cell in self.children(table) if cell.get_name() == name]
        self.click(self.wait(f"the profile {name}", named)[0])
        self.accept(window)

        def titles():
            heads = [[cell.get_name() for cell in self.children(table) if cell.get_role_name() == "table column header"]
                     for table in self.tables(self.main) if len(self.rows_of(table)) >= count]
            return [one for one in heads if len(one) == columns]
        return [[title] for title in self.wait("the columns of the profile", titles)[0]]

    def list_of_pages(self, window):
        """Its cells by name; another table of this window has all preferences, and is slow to read."""
        tables = [table for table in self.tables(window) if table.get_child_count() < SMALL_TABLE]
        cells = {plain(cell.get_name()): cell for table in tables for cell in self.children(table)}
        return "Protocols" in cells and cells


def look(wireshark, steps):
    found = []
    for kind, *path in steps:
        try:
            found.append(([kind, *path], getattr(wireshark, kind)(path)))
        except (Failure, wireshark.error) as failure:
            return {"failure": f"{path}: {failure}; status of Wireshark: {wireshark.process.poll()}"}
    return {"rows": found}


def configure(home):
    folder = os.path.join(home, "wireshark")
    os.makedirs(folder, exist_ok=True)  # it may have profiles
    for name, content in CONFIGURATION.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(content)


def start_on(capture, steps, environment):
    """Wireshark with the file, or with the pipe of a live capture and what writes the rest to it."""
    if steps[0][0] != "live":
        return start(["wireshark", "-g", "5", "-r", capture], env=environment, stdout=sys.stderr), None
    with open(capture, "rb") as file:
        first, rest = file.read(steps[0][1]), file.read()
    process = start(["wireshark", "-k", "-i", "-"], env=environment, stdout=sys.stderr, stdin=subprocess.PIPE, bufsize=0)
    process.stdin.write(first)
    return process, lambda: process.stdin.write(rest)


def main():
    limit_s, folder, capture, *steps = sys.argv[1:]
    steps = list(map(json.loads, steps))
    configure(folder)
    with display(folder):
        environment = dict(os.environ)
        if "UERUDP_PRELOAD" in environment:
            environment["LD_PRELOAD"] = environment["UERUDP_PRELOAD"]
        process, resume = start_on(capture, steps, environment)
        with ended(process):
            try:
                print(json.dumps(look(Wireshark(process, float(limit_s), resume), steps)))
            except Failure as failure:
                print(json.dumps({"failure": str(failure)}))


if __name__ == "__main__":
    main()
