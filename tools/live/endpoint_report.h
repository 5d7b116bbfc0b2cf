/* SPDX-License-Identifier: MIT */
/* Reports of a live program, one line each: text "event: key value, ...", or a JSON object. */
#ifndef UERUDP_TOOLS_LIVE_ENDPOINT_REPORT_H
#define UERUDP_TOOLS_LIVE_ENDPOINT_REPORT_H

#include <jansson.h>

#include <uerudp/endpoint.h>
#include "tools/live/transport.h"

/* From here to live_report_stop, reports and error messages are written by threads, so that a blocked reader never
   blocks the program. When more than 16 MiB wait, lines are dropped; an event "dropped" counts them. */
void live_report_start(bool as_json);
/* Writes what waits, unless the reader reads nothing for 2 seconds. False, with a message: something was not written.
   True where live_report_start was not called. */
bool live_report_stop(void);

/* Prints one event on standard output and frees members. Objects inside members appear in JSON only. */
void live_report(bool as_json, const char *event, json_t *members);

/* On a terminal, from a second after live_report_start: whether it is time to show again what the program does. */
bool live_report_progress_is_due(void);
/* Shows an event in a line on standard error that the next report or error message replaces, and frees members. */
void live_report_progress(const char *event, json_t *members);

/* The first line of a program that listens, and a second one where it uses both IPv4 and IPv6: "listening on
   ADDRESS:PORT". */
void live_report_listening(bool as_json, const struct net_socket *socket);

/* Delivery, round-trip time and loss of a connection. */
json_t *live_report_connection(const struct ue_conn *conn);
/* The counters of a transport. */
json_t *live_report_transport(const struct live_transport *port);

/* A JSON string of a text from the network: control characters, which could steer a terminal, become U+FFFD. */
json_t *live_report_text(const char *text);

#endif
