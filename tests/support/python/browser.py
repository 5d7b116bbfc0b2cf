# SPDX-License-Identifier: MIT
"""Chromium without a window, controlled by the DevTools protocol over a pipe: opens pages, runs scripts in them, sends
keys and the mouse, and takes pictures."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

PROGRAM = shutil.which("chromium")
TIMEOUT_S = 120


class Browser:
    def __init__(self, width=1400, height=900):
        self.size = width, height
        self.messages = []  # of the page's console, and exceptions
        self.number = 0
        self.session = None
        self.loads = 0

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="uerudp-browser-")
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()
        command = [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
                   f"--user-data-dir={self.folder.name}", "about:blank"]
        # Chromium reads from descriptor 3 and writes to 4, which are copies of the pipes' ends.
        shell = f"exec {to_browser}<&{to_browser}; exec \"$@\" 3<&{to_browser} 4>&{from_browser}"
        self.process = subprocess.Popen(["sh", "-c", shell, "sh", *command], pass_fds=(to_browser, from_browser),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.reader = os.fdopen(self.input, "rb")
        self.rest = b""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.resize(*self.size)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(TIMEOUT_S)
        self.reader.close()
        os.close(self.output)
        self.folder.cleanup()

    def receive(self):
        while b"\0" not in self.rest:
            more = self.reader.read1(1 << 20)
            if not more:
                raise RuntimeError("the browser ended")
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(line)
        self.note(message)
        return message

    def note(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        self.loads += method == "Page.loadEventFired"
        if method == "Runtime.consoleAPICalled":
            self.messages.append(" ".join(str(each.get("value", each.get("description"))) for each in parameters["args"]))
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.messages.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded":
            self.messages.append(parameters["entry"]["text"])

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            request["sessionId"] = self.session
        os.write(self.output, json.dumps(request).encode() + b"\0")
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def set_dark(self, is_dark):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def open(self, path):
        """Opens a file, and waits until it is drawn."""
        before = self.loads
        self.call("Page.navigate", url=pathlib.Path(path).absolute().as_uri())
        while self.loads == before:
            self.receive()
        self.frame()

    def evaluate(self, expression):
        """The value of an expression, which may be a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "exception"))
        return answer["result"].get("value")

    def frame(self):
        """Waits until what was requested is drawn."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.frame()

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", buttons=1, clickCount=1)
        self.frame()

    def drag(self, x, y, to_x, to_y):
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        for step in (0.5, 1):
            self.mouse("mouseMoved", x + (to_x - x) * step, y + (to_y - y) * step, button="left", buttons=1)
        self.mouse("mouseReleased", to_x, to_y, button="left", buttons=0, clickCount=1)
        self.frame()

    def picture(self, path, is_whole=False):
        """Writes what is visible, or the whole page, as a PNG file."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=is_whole)
        pathlib.Path(path).write_bytes(base64.b64decode(answer["data"]))
