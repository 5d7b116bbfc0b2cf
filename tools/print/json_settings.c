/* SPDX-License-Identifier: MIT */
#include "tools/print/json_settings.h"

/* A setting's value and its stock value. */
struct worth {
    const char *key;
    uint64_t value;
    uint64_t stock;
};

#define WORTHS 9

static void weigh(const struct ue_context *x, struct worth worths[WORTHS]) {
    const struct ue_settings *s = &x->settings;
    const uint64_t replay_bytes = UE_REPLAY_PACKET_BYTES;
    uint64_t own_bytes = s->internal_ack ? replay_bytes : x->profile.max_packet_bytes;
    const struct worth all[WORTHS] = {
        {"magic_bits", s->magic_bits, 0},
        {"skip_bytes", s->skip_bytes, 0},
        {"max_packet", x->data_bound / 8, own_bytes},
        {"ch_seq_bound", x->ch_seq_bound, UE_CH_SEQ_BOUND_STOCK},
        {"extra_bits", s->extra_bits, 0},
        {"terminators", s->terminators, s->internal_ack ? 1 : 2},
        {"internal_ack", s->internal_ack, 0},
        {"guid_bits", s->guid_bits, 0},
        {"netver", s->netver, 0},
    };
    memcpy(worths, all, sizeof all);
}

bool print_settings_are_stock(const struct ue_context *context) {
    struct worth worths[WORTHS];
    weigh(context, worths);
    for (size_t i = 0; i < WORTHS; i++) {
        if (worths[i].value != worths[i].stock) {
            return false;
        }
    }
    return context->settings.handlers[0] == UE_HANDLER_NONE;
}

void print_settings_json(struct text_buffer *out, const struct ue_context *context) {
    struct worth worths[WORTHS];
    const char *separator = "{";
    weigh(context, worths);
    for (size_t i = 0; i < WORTHS; i++) {
        if (worths[i].value != worths[i].stock) {
            text_buffer_add_format(out, "%s\"%s\":%llu", separator, worths[i].key, (unsigned long long)worths[i].value);
            separator = ",";
        }
    }
    if (context->settings.handlers[0] != UE_HANDLER_NONE) {
        char handlers[UE_HANDLERS_CHARS];
        text_buffer_add_format(out, "%s\"handlers\":\"%s\"", separator,
                               ue_handlers_text(context->settings.handlers, handlers));
    }
    text_buffer_add_char(out, '}');
}
