/* SPDX-License-Identifier: MIT */
/* What was on the wire at both sides of a link, each datagram with a comment on what became of it. A datagram is
   written once that is known, and all that came after it waits: files are in the order of time. */
#ifndef UERUDP_TOOLS_IMPAIR_RECORDING_H
#define UERUDP_TOOLS_IMPAIR_RECORDING_H

#include "tools/net/socket.h"

/* Where datagrams are seen. */
enum ue_relay_side { UE_RELAY_CLIENT_SIDE, UE_RELAY_SERVER_SIDE };

/* Files of both sides and of each one; NULL: none. */
struct ue_relay_paths {
    char *both;
    char *sides[2]; /* by enum ue_relay_side */
};

struct ue_relay_record;

/* NULL, with a message, when a file cannot be written. */
struct ue_relay_record *ue_relay_record_open(const struct ue_relay_paths *paths);
/* All notes are closed before. False, with a message, when not everything could be written. NULL is ignored. */
bool ue_relay_record_close(struct ue_relay_record *record);

/* One datagram in the files; NULL where none records its side, which the functions below accept. */
struct ue_relay_note;

/* A datagram that is on the wire now, with a copy of its bytes; open once. */
struct ue_relay_note *ue_relay_note_new(struct ue_relay_record *record, enum ue_relay_side side,
                                        const struct ue_net_address *from, const struct ue_net_address *to,
                                        const uint8_t *bytes, size_t size_bytes);
/* Adds to the comment, behind "; ". Empty texts are left out. */
void ue_relay_note_say(struct ue_relay_note *note, const char *text);
/* What became of one more copy has to be told. */
void ue_relay_note_open(struct ue_relay_note *note);
/* Closed as often as it was opened, a note is written. */
void ue_relay_note_close(struct ue_relay_note *note);

#endif
