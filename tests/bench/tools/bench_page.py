#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Row T10: how long Chromium takes to open the page of trace of a million packets, and how often it draws while the page
zooms from all packets to single ones.

usage: bench_page.py FOLDER [--long] [ROW...]; environment: UERUDP_PROGRAM

Without Chromium nothing is measured.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path[1:1] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parents[2] / "support/python")]
import browser  # noqa: E402
import command  # noqa: E402
import figure  # noqa: E402

ROUNDS = 3
PLAY_S = 5000  # 1 M packets
FRAMES = 120
# Times of frames while each shows 0.88 of the time of the frame before it.
ZOOM = """(async () => {
  const drawn = () => new Promise(done => requestAnimationFrame(done)), middle = data.end * 0.37, times = [];
  let span = data.end;
  await drawn();
  times.push(performance.now());
  for (let i = 0; i < FRAMES; i++) {
    span *= 0.88;
    frame.show(middle - span * 0.4, middle + span * 0.6);
    await drawn();
    times.push(performance.now());
  }
  return times;
})()""".replace("FRAMES", str(FRAMES))


def measure_page():
    """Row T10."""
    with tempfile.TemporaryDirectory() as folder:
        capture, page = f"{folder}/a.pcapng", f"{folder}/a.html"
        subprocess.run(list(map(str, command.generate(capture, "mixed", 1, PLAY_S))), check=True)
        subprocess.run([command.PROGRAM, "trace", capture, "-o", page], check=True)
        opened, rates, slowest = [], [], []
        for _ in range(ROUNDS):
            with browser.Browser() as chromium:
                begin = time.monotonic()
                chromium.open(page)
                opened.append(time.monotonic() - begin)
                packets = chromium.evaluate("traffic[0].rows.length + traffic[1].rows.length")
                times = chromium.evaluate(ZOOM)
                rates.append(FRAMES * 1000 / (times[-1] - times[0]))
                slowest.append(max(after - before for before, after in zip(times, times[1:])))
                if chromium.messages:
                    sys.exit(f"bench_page.py: {chromium.messages}")
        note = f"{packets / 1e6:.2f} M packets, {os.path.getsize(page) / 1e6:.0f} MB"
        figure.print_figure("T10", "open", min(opened), "s", note=note)
        figure.print_figure("T10", "zoom", max(rates), "frames/s", note=f"the slowest frame took {min(slowest):.0f} ms")


def main():
    if browser.PROGRAM is None:
        sys.exit("bench_page.py: needs chromium")
    if figure.wanted_rows(sys.argv[2:], ["T10"]):
        measure_page()


if __name__ == "__main__":
    main()
