/* SPDX-License-Identifier: MIT */
/* What was on the wire at both sides of a link, each datagram with a comment on what became of it. A datagram is
   written once that is known, and all that came after it waits: files are in the order of time. */
#ifndef UERUDP_TOOLS_IMPAIR_RECORDING_H
#define UERUDP_TOOLS_IMPAIR_RECORDING_H

#include "tools/net/socket.h"

/* Where datagrams are seen. */
enum impair_side { IMPAIR_SIDE_CLIENT, IMPAIR_SIDE_SERVER };

/* Files of both sides and of each one; NULL: none. */
struct impair_recording_paths {
    char *both;
    char *sides[2]; /* by enum impair_side */
};

struct impair_recording;

/* NULL, with a message, when a file cannot be written. */
struct impair_recording *impair_recording_open(const struct impair_recording_paths *paths);
/* All notes are closed before. False, with a message, when not everything could be written. NULL is ignored. */
bool impair_recording_close(struct impair_recording *record);

/* One datagram in the files; NULL where none records its side, which the functions below accept. */
struct impair_record;

/* A datagram that is on the wire now, with a copy of its bytes; open once. */
struct impair_record *impair_record_new(struct impair_recording *record, enum impair_side side,
                                        const struct net_address *from, const struct net_address *to,
                                        const uint8_t *bytes, size_t size_bytes);
/* Adds to the comment, behind "; ". Empty texts are left out. */
void impair_record_add_comment(struct impair_record *note, const char *text);
/* What became of one more copy has to be told. */
void impair_record_hold(struct impair_record *note);
/* Closed as often as it was opened, a note is written. */
void impair_record_release(struct impair_record *note);

#endif
