/* SPDX-License-Identifier: MIT */
/* An event log: JSON Lines in the manner of qlog, with one schema for logs of endpoints and of captures
   (docs/events.md). The first line describes the log, each further line is an event. */
#ifndef UERUDP_TOOLS_EVENTS_EVENT_LOG_H
#define UERUDP_TOOLS_EVENTS_EVENT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who observed the events. The number of an endpoint is its role. */
enum event_log_vantage { EVENT_LOG_VANTAGE_CLIENT, EVENT_LOG_VANTAGE_SERVER, EVENT_LOG_VANTAGE_NETWORK };

struct event_log;

/* Starts a log at path ("-": standard output); title names its subject. Returns NULL after a message if it cannot be
   written. */
struct event_log *event_log_open(const char *path, enum event_log_vantage vantage, const char *title);

/* Ends the log; is_good false discards it. Returns whether everything was written, else after a message. NULL is
   ignored and returns true. */
bool event_log_close(struct event_log *log, bool is_good);

enum event_log_vantage event_log_vantage(const struct event_log *log);

/* What an event belongs to. */
struct event_log_place {
    uint64_t frame; /* 0: not from a capture */
    int64_t time_ns;
    uint32_t stream;
    unsigned role; /* of the sender of the packet, bunch or message: 0 client, 1 server */
};

/* One event: begin, any number of members, end. */
void event_log_begin(struct event_log *log, const struct event_log_place *place, const char *name);
void event_log_number(struct event_log *log, const char *key, int64_t value);
void event_log_flag(struct event_log *log, const char *key, bool value);        /* written only if true */
void event_log_text(struct event_log *log, const char *key, const char *value); /* not written if NULL */
void event_log_numbers(struct event_log *log, const char *key, const uint64_t *values, size_t count);
void event_log_end(struct event_log *log);

/* Writes all buffered events, for a reader who is watching. */
void event_log_flush(struct event_log *log);

#endif
