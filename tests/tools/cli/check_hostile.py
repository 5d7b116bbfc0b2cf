# SPDX-License-Identifier: MIT
"""Failures while the program runs: signals, closed readers, full disks, endless files."""
import os
import pathlib
import resource
import signal
import stat
import subprocess
import tempfile
import unittest

import uerudp

GAME = uerudp.ROOT / "captures/login.pcapng"
OLD = "what was there"


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.old = self.folder / "old"
        self.old.write_text(OLD)

    def assert_untouched(self):
        self.assertEqual(["old"], [path.name for path in self.folder.iterdir()])
        self.assertEqual(OLD, self.old.read_text())


class Endings(Case):
    def interrupt(self, arguments, *numbers):
        """Send signals while the program waits for input with its output open. Returns the exit status."""
        with subprocess.Popen([uerudp.PROGRAM, *map(str, arguments)], stdin=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as child:
            while len(list(self.folder.iterdir())) == 1:
                self.assertIsNone(child.poll())
            for number in numbers:
                child.send_signal(number)
                child.wait(10)
            return child.returncode

    def test_signals(self):
        """No partial output remains, and the exit status names the signal."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for arguments in (["edit", "-", self.old], ["encode", "-o", self.old], ["decode", "--events", self.old, "-"],
                              ["generate", "mixed", "--duration=1e6", "-o", self.old]):
                self.assertEqual(-number, self.interrupt(arguments, number), arguments)
                self.assert_untouched()

    def test_ignored_signal(self):
        """An ignored signal, as under nohup, does not stop the program."""
        with subprocess.Popen([uerudp.PROGRAM, "edit", "-", self.old], stdin=subprocess.PIPE,
                              preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as child:
            while len(list(self.folder.iterdir())) == 1:
                self.assertIsNone(child.poll())
            child.send_signal(signal.SIGHUP)
            child.communicate(GAME.read_bytes())
        self.assertEqual(0, child.returncode)
        self.assertEqual(GAME.read_bytes(), self.old.read_bytes())

    def test_size_limit(self):
        """Exceeding the limit on the size of files is a write error."""
        result = subprocess.run([uerudp.PROGRAM, "edit", str(GAME), str(self.old)], capture_output=True,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        self.assertEqual((2, f"uerudp: {self.old}: cannot write\n"), (result.returncode, result.stderr.decode()))
        self.assert_untouched()


@unittest.skipUnless(os.path.exists("/dev/full"), "no full device")
class Full(unittest.TestCase):
    def test_short_texts(self):
        for arguments in (["--version"], ["help"], ["help", "decode"], ["generate", "--list"], ["doctor"]):
            with open("/dev/full", "wb") as full:
                result = subprocess.run([uerudp.PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(2, result.returncode, arguments)
            self.assertIn(b"cannot write", result.stderr)


class Places(Case):
    def test_existing_part_file(self):
        part = self.folder / "new.part"
        part.write_text(OLD)
        uerudp.run("edit", GAME, self.folder / "new")
        uerudp.run("edit", os.devnull, self.folder / "new", status=2)
        self.assertEqual(OLD, part.read_text())
        self.assertEqual({"old", "new", "new.part"}, {path.name for path in self.folder.iterdir()})

    def test_link(self):
        """A symbolic link as output stays a link, as /dev/stdout must."""
        link = self.folder / "link"
        link.symlink_to(self.old)
        uerudp.run("edit", GAME, link)
        self.assertTrue(link.is_symlink())
        self.assertEqual(GAME.read_bytes(), self.old.read_bytes())

    def test_permissions(self):
        """An existing file keeps its permissions; a new file has those of the umask."""
        self.old.chmod(0o600)
        for path, mode in ((self.old, 0o600), (self.folder / "new", 0o640)):
            subprocess.run([uerudp.PROGRAM, "edit", str(GAME), str(path)], check=True, preexec_fn=lambda: os.umask(0o027))
            self.assertEqual(mode, stat.S_IMODE(path.stat().st_mode))

    def test_inputs(self):
        """A report never replaces a capture that it is about, also under another name."""
        capture = self.folder / "capture.html"
        link = self.folder / "link"
        for arguments in (["decode", "--events"], ["info", "--junit"], ["trace", "--output"]):
            capture.write_bytes(GAME.read_bytes())
            link.unlink(missing_ok=True)
            link.symlink_to(capture)
            for name in (capture, link if arguments[0] != "trace" else capture):
                message = uerudp.run(*arguments, name, capture, status=2).stderr.decode()
                self.assertIn(f"{name}: this is a file to read; the output would replace it", message)
                self.assertEqual(GAME.read_bytes(), capture.read_bytes())
            uerudp.run(*arguments, self.old, capture)

    @unittest.skipIf(os.geteuid() == 0, "may write everything")
    def test_read_only(self):
        self.old.chmod(0o400)
        self.assertIn("Permission denied", uerudp.run("edit", GAME, self.old, status=2).stderr.decode())
        self.assert_untouched()


class Endless(Case):
    """An endless file where a small file is required."""

    def test_keys(self):
        message = uerudp.run("decode", "--handlers=aesgcm", "--key=/dev/zero", GAME, status=2).stderr.decode()
        self.assertIn("not a key", message)

    def test_rules(self):
        message = uerudp.run("edit", "--rules=/dev/zero", GAME, os.devnull, status=2).stderr.decode()
        self.assertIn("/dev/zero: longer than", message)


if __name__ == "__main__":
    uerudp.main()
