# SPDX-License-Identifier: MIT
"""The program on a terminal."""
import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading

import uerudp

SECONDS = 60
ERASED = "\r\033[K"  # a line of progress is removed


def everything_from(master):
    text = b""
    with contextlib.suppress(OSError):  # the end
        while chunk := os.read(master, 65536):
            text += chunk
    os.close(master)
    return text


class Terminal:
    """A running program, some streams of which are a terminal, and what it has written there."""

    def __init__(self, *arguments, streams=("stdout", "stderr"), columns=0, **environment):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        others = {name: subprocess.DEVNULL for name in {"stdout", "stderr"} - set(streams)}
        clean = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        self.process = subprocess.Popen([uerudp.PROGRAM, *map(str, arguments)], env={**clean, "TERM": "xterm", **environment},
                                        **{name: slave for name in streams}, **others)
        os.close(slave)
        self.text = b""
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        with contextlib.suppress(OSError):  # the end
            while chunk := os.read(self.master, 65536):
                self.text += chunk

    def end(self, with_signal=None):
        """Everything that was written, at the end of the program."""
        if with_signal is not None:
            self.process.send_signal(with_signal)
        self.process.wait(SECONDS)
        self.reader.join(SECONDS)
        os.close(self.master)
        return self.text.decode()


def shown(text):
    """What is left on the screen: a line of progress is gone where something replaces it."""
    return "\n".join(line.rpartition(ERASED)[2] for line in text.replace("\r\n", "\n").split("\n"))
