#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients who fill a server's memory beside clients who are served, on the loopback interface.

usage: fair_shares.py LOAD_CLIENTS HOSTILE_CLIENTS
"""
import json
import subprocess
import sys
import time

import live

HONEST, HOSTILE = 20, 36


def start(program, server, *arguments):
    return subprocess.Popen([program, str(server.port), *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def main():
    load_clients, hostile_clients = sys.argv[1:]
    with live.Server("--max-clients", HONEST + HOSTILE + 1, bind="127.0.0.1") as server:
        load = start(load_clients, server, HONEST, 12)
        server.wait_for("joined", HONEST)
        hostile = start(hostile_clients, server, HOSTILE, 8)
        server.wait_for("joined", HONEST + HOSTILE)
        time.sleep(5)
        live.check(server)  # a newcomer
        joined = int(hostile.communicate(timeout=live.SECONDS)[0])
        told = json.loads(load.communicate(timeout=live.SECONDS)[0])
    memory = server.reported("served")["memory_bytes"]
    print(f"{HOSTILE} hostile clients, {memory >> 20} MiB in use at most; {HONEST} others: {told['sent']} reliable messages sent, "
          f"{told['echoed']} echoed")
    assert joined == HOSTILE, joined
    assert memory > 20 << 20, memory  # it was an attack
    assert load.returncode == 0, told


if __name__ == "__main__":
    main()
