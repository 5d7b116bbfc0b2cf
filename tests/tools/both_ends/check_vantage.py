#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp info --vantage: which captures are those of the client and of the server."""
import trace_page
import uerudp
from both_ends import LOST, WAYS, Folder, info, text_of


class Vantage(Folder):
    def test_words(self):
        ends = self.generate("lossy")
        (connection,), _ = info(ends.server, ends.client, "--vantage=server,client")
        self.assertEqual(1, self.compare(ends, connection)["client_end"])
        for words in ("client", "client,client", "client,server,server", "here,there", ""):
            result = uerudp.run("info", f"--vantage={words}", ends.client, ends.server, status=2)
            self.assertIn("--vantage", result.stderr.decode(), words)
        self.assertIn("interfaces", uerudp.run("info", "--vantage=client,server", ends.client, status=2).stderr.decode())

    def test_left_out(self):
        """A capture between the ends has the packets of both, so that the user says which two are compared."""
        ends = self.generate("lossy")
        (connection,), _ = info(ends.client, ends.client, ends.server, "--vantage=client,-,server")
        self.compare(ends, connection)
        (connection,), _ = info(ends.client, ends.server, ends.client, "--vantage=-,server,client")
        self.assertEqual(1, self.compare(ends, connection)["client_end"])
        self.assertEqual(["server.pcapng", "client.pcapng"], connection["both_ends"]["captures"])

    def test_contradiction(self):
        """Packets cannot arrive before they are sent: the times decide, and the report says so."""
        ends = self.generate("lossy")
        (connection,), _ = info(ends.client, ends.server, "--vantage=server,client")
        self.compare(ends, connection)
        self.assertIn("the times contradict --vantage", text_of(ends.client, ends.server, "--vantage=server,client"))

    def test_nothing_in_common(self):
        one = self.generate("stream", "--seed", "5").client.rename(self.path / "one.pcapng")
        two = self.generate("stream", "--seed", "6").client
        for command in "info", "trace":
            said = uerudp.run(command, one, two, "--vantage=client,server", status=2).stderr.decode()
            self.assertIn("no connection in common", said)

    def test_trace(self):
        """Of three files, trace draws the two that the user names, as info counts them."""
        ends = self.generate("lossy")
        files = (ends.client, ends.client, ends.server, "--vantage=client,-,server")
        page = trace_page.read(uerudp.run("trace", *files, status=None).stdout.decode())
        (connection,), _ = info(*files)
        for side, way in enumerate(WAYS):
            lost = sum(1 for row in page[f"paths{side}"] if row["fate"] == LOST)
            self.assertEqual(connection["both_ends"][way]["lost"], lost)
            self.assertGreater(lost, 0)


if __name__ == "__main__":
    uerudp.main()
