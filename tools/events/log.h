/* SPDX-License-Identifier: MIT */
/* An event log: JSON Lines in the manner of qlog, one schema for a log from inside an endpoint and one made from a
   capture (docs/events.md). The first line describes the log, each further one is an event. */
#ifndef UERUDP_TOOLS_EVENTS_LOG_H
#define UERUDP_TOOLS_EVENTS_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* Who tells. An endpoint's number is its role. */
enum event_log_vantage { EVENT_LOG_VANTAGE_CLIENT, EVENT_LOG_VANTAGE_SERVER, EVENT_LOG_VANTAGE_NETWORK };

struct event_log;

/* Begins a log at path, "-" being standard output; title: of what. NULL, with a message, when it cannot be written. */
struct event_log *event_log_open(const char *path, enum event_log_vantage vantage, const char *title);

/* Ends it; is_good false: leaves nothing behind. Whether all is well, else there was a message. NULL is ignored, and
   good. */
bool event_log_close(struct event_log *log, bool is_good);

enum event_log_vantage event_log_vantage(const struct event_log *log);

/* Where an event belongs. */
struct event_log_place {
    uint64_t frame; /* 0: of no capture */
    int64_t time_ns;
    uint32_t stream;
    unsigned role; /* of whoever sent the packet, bunch or message that it is about: 0 client, 1 server */
};

/* One event: begin, its data in any number, end. */
void event_log_begin(struct event_log *log, const struct event_log_place *place, const char *name);
void event_log_number(struct event_log *log, const char *key, int64_t value);
void event_log_flag(struct event_log *log, const char *key, bool value);        /* only what is true is written */
void event_log_text(struct event_log *log, const char *key, const char *value); /* NULL is left out */
void event_log_end(struct event_log *log);

/* Writes out what waits: for somebody who watches. */
void event_log_flush(struct event_log *log);

#endif
