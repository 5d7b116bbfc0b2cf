#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many clients against one server on the loopback interface: nothing reliable is lost; memory and processor time are printed.

usage: load.py LOAD_CLIENTS CLIENTS SECONDS
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import live


def status(process, key):
    """A size in /proc/PID/status, in bytes."""
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(rf"{key}:\s+(\d+) kB", text)[1]) * 1024


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    program, clients, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with live.Server("--max-clients", clients, bind="127.0.0.1") as server:
        idle_bytes = status(server.process, "VmRSS")
        started = time.monotonic()
        load = subprocess.run([program, str(server.port), str(clients), str(seconds)], stdout=subprocess.PIPE,
                              text=True, timeout=seconds + 120)
        peak_bytes = status(server.process, "VmHWM")
        cpu = cpu_seconds(server.process) / (time.monotonic() - started)
        server.wait_for("left", clients)
    result = json.loads(load.stdout)
    left, served = server.named("left"), server.reported("served")
    print(f"{clients} clients for {seconds} s: {result['sent']} reliable messages sent, {result['echoed']} echoed, "
          f"{result['wrong']} clients with wrong ones")
    print(f"memory per connection: {served['memory_bytes'] // clients} bytes of the pool at most, "
          f"{(peak_bytes - idle_bytes) // clients} bytes of the process")
    print(f"server: {100 * cpu:.0f} % of a core, {served['in_datagrams']} datagrams in, "
          f"{sum(each['counters']['out_packets_lost'] for each in left)} packets lost")
    assert load.returncode == 0, result
    assert [each["told"] for each in left] == clients * ["Disconnect"]
    assert sum(each["messages"] for each in left) == result["sent"]


if __name__ == "__main__":
    main()
