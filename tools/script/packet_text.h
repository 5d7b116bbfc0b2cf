/* SPDX-License-Identifier: MIT */
/* How scripts write packets: "100 Ack=499 hist=b [5 R101 m1 80] [3 U open:Actor u 16]", or, as packets are up to 4.21,
   "100 [5 R101 m1 80] [ack 499]". The same words are printed into transcripts and read from scripts. */
#ifndef UERUDP_TOOLS_SCRIPT_PACKET_TEXT_H
#define UERUDP_TOOLS_SCRIPT_PACKET_TEXT_H

#include "tools/script/named_payload.h"

#define SCRIPT_SEQ_BOUND 16384

/* What has to be added to sequences of side 0 (C) and 1 (S) to get the numbers that the script uses: zero unless a real
   host has chosen the first ones. */
struct script_sequence_offsets {
    uint32_t seq[2];
    uint32_t ch_seq[2];
};

/* A word of a printed packet and the field that it shows. */
struct script_text_field {
    size_t at; /* offset in the text */
    enum ue_field field;
    size_t item; /* the bunch or ack */
};

/* Appends ack, history and bunches of a packet of `side`, and the field of each word to marks (NULL: not wanted). */
void script_packet_print(GString *text, GArray *marks, const struct ue_context *x, const struct script_sequence_offsets *numbers,
                     unsigned side, const struct ue_datagram *d);

#define SCRIPT_PACKET_ITEMS_MAX 600

/* A packet as a script writes it. The caller sets name_of, which tells the engine's name of a channel where the script
   does not ("as:NAME", "open:NAME"). */
struct script_packet {
    uint32_t (*name_of)(void *user, uint32_t channel);
    void *user;
    struct ue_datagram datagram;
    uint32_t copies;   /* "100-102": packets in a row that differ in their numbers only */
    unsigned cut_bits; /* the caller's: taken from the end, terminators not counted */
    struct ue_item items[SCRIPT_PACKET_ITEMS_MAX];
    struct script_payload_buffer payloads;
};

/* Reads a packet of `side`; false with a mistake. */
bool script_packet_parse(char *line, const struct ue_context *x, const struct script_sequence_offsets *numbers, unsigned side,
                    struct script_packet *packet, struct script_error *mistake);
/* Counts on to the next copy. */
void script_packet_next(const struct ue_context *x, struct script_packet *packet);

/* How scripts name a kind of channel. */
struct script_channel_kind {
    const char *word;
    uint32_t index; /* the engine's number of the name */
    uint8_t type;   /* up to 4.21, in the place of the name */
};

/* The kinds in a row; NULL behind the last. */
const struct script_channel_kind *script_channel_kind_at(size_t index);

#endif
