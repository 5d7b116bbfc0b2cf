#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hostile clients that fill a server's memory, beside honest clients, on the loopback interface.

usage: fair_shares.py LOAD_CLIENTS HOSTILE_CLIENTS
"""
import json
import subprocess
import sys

import live
from load import status

HONEST, HOSTILE = 20, 36
ATTACK_BYTES = 20 << 20


def start(program, server, *arguments):
    return subprocess.Popen([program, str(server.port), *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def main():
    load_clients, hostile_clients = sys.argv[1:]
    with live.Server("--max-clients", HONEST + HOSTILE + 1, bind="127.0.0.1") as server:
        load = start(load_clients, server, HONEST, 12)
        server.wait_for("joined", HONEST)
        before_bytes = status(server.process, "VmRSS")
        hostile = start(hostile_clients, server, HOSTILE)
        server.wait_for("joined", HONEST + HOSTILE)
        live.wait_until(lambda: status(server.process, "VmRSS") > before_bytes + ATTACK_BYTES)
        live.check(server)  # another honest client
        result = json.loads(load.communicate(timeout=live.SECONDS)[0])
        joined = int(hostile.communicate(timeout=live.SECONDS)[0])
    memory = server.reported("served")["memory_bytes"]
    print(f"{HOSTILE} hostile clients, {memory >> 20} MiB in use at most; {HONEST} honest clients: "
          f"{result['sent']} reliable messages sent, {result['echoed']} echoed")
    assert joined == HOSTILE, joined
    assert memory > ATTACK_BYTES, memory
    assert load.returncode == 0, result


if __name__ == "__main__":
    main()
