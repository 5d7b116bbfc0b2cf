/* SPDX-License-Identifier: MIT */
/* What a live program tells its user, each in one line: as text "event: key value, ...", or as a JSON object. */
#ifndef UERUDP_TOOLS_LIVE_REPORT_H
#define UERUDP_TOOLS_LIVE_REPORT_H

#include <jansson.h>

#include <uerudp/endpoint.h>
#include "tools/live/transport.h"

/* From here to the end, what is reported and complained of is written by threads of its own: a reader who does not read
   holds up nothing. Beyond 16 MiB that wait, lines are dropped and counted; an event "dropped" says how many. */
void live_report_start(bool as_json);
/* Writes what waits, but not for a reader who does not read for 2 seconds. False, with a message: something was not
   written. True where nothing was begun. */
bool live_report_stop(void);

/* Prints one event at once on standard output; takes over members. Objects inside members show in JSON only. */
void live_report(bool as_json, const char *event, json_t *members);

/* The first line of a program that listens, and the second where it takes both IPv4 and IPv6: "listening on
   ADDRESS:PORT". */
void live_report_listening(bool as_json, const struct net_socket *socket);

/* Delivery, round-trip time and loss of a connection. */
json_t *live_report_connection(const struct ue_conn *conn);
/* What a port counted. */
json_t *live_report_transport(const struct live_transport *port);

/* A JSON string of a text that came from the network: characters that steer terminals become U+FFFD. */
json_t *live_report_text(const char *text);

#endif
