/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "tools/script/packet_text.h"

static const struct script_channel_kind kinds[] = {
    {"Actor", UE_NAME_ACTOR, UE_CHANNEL_ACTOR},
    {"Control", UE_NAME_CONTROL, UE_CHANNEL_CONTROL},
    {"Voice", UE_NAME_VOICE, UE_CHANNEL_VOICE},
    {"DataStream", UE_NAME_DATA_STREAM, UE_CHANNEL_FILE},
};

const struct script_channel_kind *script_channel_kind_at(size_t index) {
    return index < G_N_ELEMENTS(kinds) ? &kinds[index] : NULL;
}

struct printing {
    GString *text;
    GArray *text_fields;
    const struct ue_context *x;
    const struct script_sequence_offsets *numbers;
    unsigned side;
    size_t item;
};

/* Starts the next token, which shows a field. */
static GString *token(struct printing *p, const char *before, enum ue_field field) {
    g_string_append(p->text, before);
    if (p->text_fields != NULL) {
        struct script_text_field text_field = {p->text->len, field, p->item};
        g_array_append_val(p->text_fields, text_field);
    }
    return p->text;
}

static unsigned seq_of(const struct printing *p, unsigned side, uint32_t transport) {
    return (transport + p->numbers->seq[side]) % SCRIPT_SEQ_BOUND;
}

static const char *kind_word(const struct ue_bunch *b) {
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (b->has_name ? b->name.hardcoded && b->name.index == kinds[i].index : b->ch_type == kinds[i].type) {
            return kinds[i].token;
        }
    }
    return "?";
}

static void print_flags(struct printing *p, const struct ue_bunch *b) {
    if (b->open) {
        g_string_append_printf(token(p, " ", UE_F_BUNCH_OPEN), "open:%s", kind_word(b));
    }
    if (b->close) {
        g_string_append(token(p, " ", UE_F_BUNCH_CLOSE), "close");
    }
    if (b->close && b->close_reason != 0) {
        g_string_append_printf(p->text, ":%u", b->close_reason);
    }
    if (b->has_exports) {
        g_string_append(token(p, " ", UE_F_BUNCH_HAS_EXPORTS), "exports");
    }
    if (b->has_mapped) {
        g_string_append(token(p, " ", UE_F_BUNCH_HAS_MAPPED), "mapped");
    }
    if (b->paused) {
        g_string_append(token(p, " ", UE_F_BUNCH_PAUSED), "paused");
    }
    if (b->partial) {
        g_string_append(token(p, " ", UE_F_BUNCH_PARTIAL_INITIAL), b->partial_initial ? "initial"
                                                                   : b->partial_final ? "final"
                                                                                      : "middle");
    }
}

/* Prints what follows a bunch's sequence. */
static void print_rest(struct printing *p, const struct ue_bunch *b) {
    print_flags(p, b);
    script_payload_print_name(token(p, " ", UE_F_BUNCH_DATA), p->x, b->channel, b->data);
    g_string_append_printf(token(p, " ", UE_F_BUNCH_DATA_BITS), "%zu]", b->data.bits);
}

/* Number of bunches from the first that are equal, apart from reliable numbers that increase by one. */
static size_t run_of(const struct printing *p, const struct ue_item *items, size_t count, const char *rest) {
    struct printing next = *p;
    const struct ue_bunch *first = &items[0].bunch;
    size_t run = 1;
    next.text = g_string_new(NULL);
    next.text_fields = NULL;
    for (; run < count && !items[run].is_ack; run++) {
        const struct ue_bunch *b = &items[run].bunch;
        if (b->channel != first->channel || b->reliable != first->reliable ||
            (b->reliable && b->ch_seq != first->ch_seq + run)) {
            break;
        }
        g_string_truncate(next.text, 0);
        print_rest(&next, b);
        if (strcmp(rest, next.text->str) != 0) {
            break;
        }
    }
    g_string_free(next.text, TRUE);
    return run;
}

/* Prints the number after "[5 ", or the numbers of a run once it is known. */
static void print_bunch_run(struct printing *p, const struct ue_item *items, size_t count, size_t *run) {
    const struct ue_bunch *b = &items[0].bunch;
    struct printing rest = *p;
    rest.text = g_string_new(NULL);
    rest.text_fields = NULL;
    print_rest(&rest, b);
    *run = run_of(p, items, count, rest.text->str);
    g_string_free(rest.text, TRUE);
    g_string_append_printf(token(p, " [", UE_F_BUNCH_CHANNEL), "%u", b->channel);
    if (!b->reliable) {
        g_string_append_c(token(p, " ", UE_F_BUNCH_RELIABLE), 'U');
    } else {
        uint32_t seq = (b->ch_seq + p->numbers->ch_seq[p->side]) % p->x->ch_seq_bound;
        g_string_append_printf(token(p, " ", UE_F_BUNCH_CH_SEQ), "R%" PRIu32, seq);
        if (*run > 1) {
            g_string_append_printf(p->text, "-%zu", seq + *run - 1);
        }
    }
    print_rest(p, b);
    if (!b->reliable && *run > 1) {
        g_string_append_printf(p->text, "x%zu", *run);
    }
}

/* A run is one entry: "[5 R101-110 m 80]", "[5 U m 80]x10". */
static void print_items(struct printing *p, const struct ue_datagram *d) {
    for (size_t i = 0, run; i < d->item_count; i += run) {
        p->item = i;
        run = 1;
        if (d->items[i].is_ack) {
            g_string_append(token(p, " [", UE_F_LEGACY_ACK_ID), "ack");
            g_string_append_printf(token(p, " ", UE_F_LEGACY_ACK_ID), "%u]",
                                   seq_of(p, !p->side, d->items[i].ack.ack_id));
        } else {
            print_bunch_run(p, d->items + i, d->item_count - i, &run);
        }
    }
}

static void print_history(GString *text, const struct ue_packet *p) {
    for (unsigned i = 0, run; i < p->history_words; i += run) {
        for (run = 1; i + run < p->history_words && p->history[i + run] == p->history[i]; run++) {
        }
        g_string_append_printf(text, "%s%" PRIx32, i != 0 ? "," : "", p->history[i]);
        if (run > 1) {
            g_string_append_printf(text, "*%u", run);
        }
    }
}

void script_packet_print(GString *text, GArray *text_fields, const struct ue_context *x,
                         const struct script_sequence_offsets *numbers, unsigned side, const struct ue_datagram *d) {
    struct printing printing = {.text = text, .text_fields = text_fields, .x = x, .numbers = numbers, .side = side};
    struct printing *p = &printing;
    const struct ue_packet *packet = &d->packet;
    if (x->profile.packet != UE_PACKET_LEGACY) {
        g_string_append_printf(token(p, " ", UE_F_PACKET_ACK), "Ack=%u", seq_of(p, !side, packet->ack));
        print_history(g_string_append(token(p, " ", UE_F_PACKET_HISTORY), "hist="), packet);
    }
    if (packet->history_flush) {
        g_string_append(token(p, " ", UE_F_PACKET_HISTORY_FLUSH), "resetting");
    }
    if (x->profile.packet == UE_PACKET_HISTORY_SEQ && packet->acked_history_seq != packet->ack) {
        g_string_append_printf(token(p, " ", UE_F_PACKET_ACKED_HISTORY_SEQ), "AckedHistorySeq=%u",
                               seq_of(p, !side, packet->acked_history_seq));
    }
    print_items(p, d);
}
