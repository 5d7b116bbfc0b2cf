/* SPDX-License-Identifier: MIT */
/* How scenarios write packets and bunches: "100 Ack=499 hist=b [5 R101 m1 80] [3 U open:Actor u 16]", or, as packets
   are up to 4.21, "100 [5 R101 m1 80] [ack 499]". The same words are printed into transcripts and read from scripts. */
#ifndef UE_TESTS_SCENARIO_TEXT_H
#define UE_TESTS_SCENARIO_TEXT_H

#include "libcodec/datagram.h"

#define SCENARIO_PAYLOAD_BYTES 66000

/* A string that grows. */
struct text {
    char *chars;
    size_t length;
    size_t capacity;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_clear(struct text *text);
void text_free(struct text *text);

/* Cuts the next word off a line, in place; NULL at the end. */
char *text_word(char **line);

/* Whether a word is that one; NULL is no word. */
bool text_is(const char *word, const char *expected);
/* What follows "key" in a word; NULL when the word begins differently. */
const char *text_after(const char *word, const char *key);

/* Reads "7" or "7-9"; false for any other word. */
bool text_range(const char *word, int64_t *first, int64_t *last);

/* Makes the payload that is called `name`: its letters, then zeros, then a pattern up to `bits`; on the control channel
   the message of that name, as long as it is. "-" has no letters, "0x17ff" is these bytes. Returns the length in
   bits. */
size_t text_payload(const struct ue_context *x, uint32_t channel, const char *name, size_t bits, uint8_t *bytes);

/* Whether a whole payload made by the function above came as it was. */
bool text_is_intact(struct ue_view payload);

/* The name of a payload; payloads merged into one bunch give "a+b". */
void text_add_name(struct text *text, const struct ue_context *x, uint32_t channel, struct ue_view payload);

/* Ack, history and bunches of a packet. */
void text_add_packet(struct text *text, const struct ue_context *x, const struct ue_datagram *d);

/* A packet as a script writes it. The caller sets name_of, which tells the engine's name of a channel where the script
   does not ("as:NAME", "open:NAME"). */
struct text_packet {
    uint32_t (*name_of)(void *user, uint32_t channel);
    void *user;
    struct ue_datagram datagram;
    uint32_t copies;   /* "100-102": packets in a row that differ in their numbers only */
    unsigned cut_bits; /* the caller's: taken from the end, terminators not counted */
    struct ue_item items[300];
    uint8_t payload[SCENARIO_PAYLOAD_BYTES];
    size_t payload_bytes;
};

/* False: the line is not understood. */
bool text_read_packet(char *line, const struct ue_context *x, struct text_packet *packet);
/* Counts on to the next copy. */
void text_next_packet(const struct ue_context *x, struct text_packet *packet);

#endif
