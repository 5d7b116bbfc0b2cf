/* SPDX-License-Identifier: MIT */
/* An event log: JSON Lines in the manner of qlog, one schema for a log from inside an endpoint and one made from a
   capture (docs/events.md). The first line describes the log, each further one is an event. */
#ifndef UERUDP_TOOLS_EVENTS_LOG_H
#define UERUDP_TOOLS_EVENTS_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* Who tells. An endpoint's number is its role. */
enum ue_vantage { UE_VANTAGE_CLIENT, UE_VANTAGE_SERVER, UE_VANTAGE_NETWORK };

struct ue_log;

/* Begins a log at path, "-" being standard output; title: of what. NULL, with a message, when it cannot be written. */
struct ue_log *ue_log_open(const char *path, enum ue_vantage vantage, const char *title);

/* Ends it; is_good false: leaves nothing behind. Whether all is well, else there was a message. NULL is ignored, and
   good. */
bool ue_log_close(struct ue_log *log, bool is_good);

enum ue_vantage ue_log_vantage(const struct ue_log *log);

/* Where an event belongs. */
struct ue_log_place {
    uint64_t frame; /* 0: of no capture */
    int64_t time_ns;
    uint32_t stream;
    unsigned role; /* of whoever sent the packet, bunch or message that it is about: 0 client, 1 server */
};

/* One event: begin, its data in any number, end. */
void ue_log_begin(struct ue_log *log, const struct ue_log_place *place, const char *name);
void ue_log_number(struct ue_log *log, const char *key, int64_t value);
void ue_log_flag(struct ue_log *log, const char *key, bool value);        /* only what is true is written */
void ue_log_text(struct ue_log *log, const char *key, const char *value); /* NULL is left out */
void ue_log_end(struct ue_log *log);

/* Writes out what waits: for somebody who watches. */
void ue_log_flush(struct ue_log *log);

#endif
