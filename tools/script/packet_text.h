/* SPDX-License-Identifier: MIT */
/* The text form of packets in scripts and transcripts: "100 Ack=499 hist=b [5 R101 m1 80] [3 U open:Actor u 16]", or up
   to 4.21 "100 [5 R101 m1 80] [ack 499]". Printed into transcripts and parsed from scripts. */
#ifndef UERUDP_TOOLS_SCRIPT_PACKET_TEXT_H
#define UERUDP_TOOLS_SCRIPT_PACKET_TEXT_H

#include "tools/script/named_payload.h"

#define SCRIPT_SEQ_BOUND 16384

/* Added to the sequences of side 0 (C) and 1 (S) to get the numbers in the script: zero, unless a real host chose the
   first ones. */
struct script_sequence_offsets {
    uint32_t seq[2];
    uint32_t ch_seq[2];
};

/* A token of a printed packet and the field that it shows. */
struct script_text_field {
    size_t at; /* offset in the text */
    enum ue_field field;
    size_t item; /* index of the bunch or ack */
};

/* Appends ack, history and bunches of a packet of `side`, and the field of each token to marks (NULL: not wanted). */
void script_packet_print(GString *text, GArray *text_fields, const struct ue_context *x,
                         const struct script_sequence_offsets *numbers, unsigned side, const struct ue_datagram *d);

#define SCRIPT_PACKET_ITEMS_MAX 600

/* A packet as a script writes it. The caller sets name_of, which returns the engine's name index of a channel where the
   script gives none ("as:NAME", "open:NAME"). */
struct script_packet {
    uint32_t (*name_of)(void *user, uint32_t channel);
    void *user;
    struct ue_datagram datagram;
    uint32_t copies;   /* "100-102": packets in a row that differ by their numbers only */
    unsigned cut_bits; /* set by the caller: bits removed from the end, not counting terminators */
    struct ue_item items[SCRIPT_PACKET_ITEMS_MAX];
    struct script_payload_buffer payloads;
};

/* Parses a packet of `side`. False with an error. */
bool script_packet_parse(char *line, const struct ue_context *x, const struct script_sequence_offsets *numbers,
                         unsigned side, struct script_packet *packet, struct script_error *error);
/* Advances the numbers to the next copy. */
void script_packet_next(const struct ue_context *x, struct script_packet *packet);

/* A kind of channel with its name in scripts. */
struct script_channel_kind {
    const char *token;
    uint32_t index; /* the engine's index of the name */
    uint8_t type;   /* up to 4.21, instead of the name */
};

/* All kinds by index; NULL after the last. */
const struct script_channel_kind *script_channel_kind_at(size_t index);

#endif
