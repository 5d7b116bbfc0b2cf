/* SPDX-License-Identifier: MIT */
/* Captures of both sides of the impairment proxy, with a comment on each datagram that says what happened to it. A
   datagram is written when that is known, and later datagrams wait for it: files are in the order of time. */
#ifndef UERUDP_TOOLS_IMPAIR_RECORDING_H
#define UERUDP_TOOLS_IMPAIR_RECORDING_H

#include "tools/net/socket.h"

/* Where a datagram is captured. */
enum impair_side { IMPAIR_SIDE_CLIENT, IMPAIR_SIDE_SERVER };

/* Files for both sides and for each one; NULL: none. */
struct impair_recording_paths {
    const char *both;
    const char *sides[2]; /* [enum impair_side] */
};

struct impair_recording;

/* NULL, with a message: a file cannot be written. */
struct impair_recording *impair_recording_open(const struct impair_recording_paths *paths);
/* All records are released before. False, with a message: a file is incomplete. NULL is ignored. */
bool impair_recording_close(struct impair_recording *recording);

/* One datagram of the files. NULL: no file captures its side; all functions below accept it. */
struct impair_record;

/* Adds a datagram that is on the wire now, with a copy of its bytes, and holds it once. */
struct impair_record *impair_record_new(struct impair_recording *recording, enum impair_side side,
                                        const struct net_address *from, const struct net_address *to,
                                        const uint8_t *bytes, size_t size_bytes);
/* Appends to the comment, after "; ". An empty text is ignored. */
void impair_record_add_comment(struct impair_record *record, const char *text);
/* Holds the record for another copy of the datagram. */
void impair_record_hold(struct impair_record *record);
/* Releases a record once; it is written when it was released as often as it was held. */
void impair_record_release(struct impair_record *record);

#endif
