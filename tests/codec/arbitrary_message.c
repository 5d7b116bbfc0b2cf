/* SPDX-License-Identifier: MIT */
#include "tests/codec/arbitrary_message.h"

enum arbitrary_kind {
    U8,
    U32,
    I32,
    U64,
    TEXT,
    TOKEN,
    FEATURES,
    NET_GUID,
    REFERENCE,
    BEACON_GUID,
    GUID,
    UNIQUE_ID,
    U8_ARRAY,
    U64_ARRAY
};

struct arbitrary_param {
    uint8_t type;
    enum arbitrary_kind kind;
};

static const struct arbitrary_param rows[] = {
#define UE_MESSAGE(number, id, name)
#define UE_PARAM(message, name, kind) {UE_MESSAGE_##message, kind},
#include <uerudp/messages.def>
#undef UE_MESSAGE
#undef UE_PARAM
};

static const uint8_t types[] = {
#define UE_MESSAGE(number, id, name) number,
#define UE_PARAM(message, name, kind)
#include <uerudp/messages.def>
#undef UE_MESSAGE
#undef UE_PARAM
};

static void new_unique_id(struct rng *rng, struct ue_unique_id *m) {
    m->flags = (uint8_t)rng_boundary(rng, 256);
    unsigned hash = m->flags >> 3;
    bool encoded = (m->flags & UE_UNIQUE_ID_ENCODED) != 0;
    if (encoded && (m->flags & UE_UNIQUE_ID_EMPTY) != 0) {
        return;
    }
    if (encoded && hash == UE_UNIQUE_ID_HASH_V2) {
        m->services = (uint8_t)rng_next(rng);
    } else if (hash == UE_UNIQUE_ID_HASH_OTHER) {
        m->type = arbitrary_text(rng);
    }
    if (encoded) {
        m->bytes = arbitrary_view(rng, rng_below(rng, arbitrary_spoil(rng) ? 300 : 20) * 8);
    } else {
        m->text = arbitrary_text(rng);
    }
}

static void old_unique_id(struct rng *rng, struct ue_unique_id *m) {
    m->size = (uint32_t)rng_boundary(rng, UINT64_C(1) << 32);
    if ((int32_t)m->size > 0) {
        m->text = arbitrary_text(rng);
    }
}

static void arbitrary_param(struct rng *rng, const struct ue_context *x, enum arbitrary_kind kind,
                            struct ue_message *message, struct ue_param *m) {
    bool odd = arbitrary_spoil(rng);
    switch (kind) {
    case U8: m->number = rng_below(rng, odd ? 1000 : 256); break;
    case U32:
    case I32: m->number = rng_boundary(rng, UINT64_C(1) << (odd ? 40 : 32)); break;
    case U64: m->number = rng_next(rng); break;
    case FEATURES: m->number = rng_below(rng, 65536); break;
    case TEXT:
    case TOKEN: m->text = arbitrary_text(rng); break;
    case REFERENCE:
    case NET_GUID:
        if (x->settings.guid_bits != 0) {
            m->text.units = arbitrary_view(rng, x->settings.guid_bits + odd);
        } else {
            m->number = rng_boundary(rng, 0);
        }
        break;
    case BEACON_GUID:
        if (ue_context_netver(x) >= 39) {
            m->text.units = arbitrary_view(rng, 1 + rng_below(rng, 300));
        } else {
            arbitrary_param(rng, x, NET_GUID, message, m);
        }
        break;
    case GUID: m->text.units = arbitrary_view(rng, 128 + odd); break;
    case U8_ARRAY: m->text.units = arbitrary_view(rng, rng_below(rng, 40) * 8 + odd); break;
    case U64_ARRAY: m->text.units = arbitrary_view(rng, rng_below(rng, 10) * 64 + odd); break;
    case UNIQUE_ID:
        if (x->profile.hello >= 2) {
            new_unique_id(rng, &message->unique_id);
        } else {
            old_unique_id(rng, &message->unique_id);
        }
        break;
    }
}

static bool exists(const struct ue_context *x, enum arbitrary_kind kind) {
    return kind == TOKEN ? x->profile.hello >= 1 : kind == FEATURES ? x->profile.hello >= 3 : true;
}

void arbitrary_message(struct rng *rng, const struct ue_context *x, struct ue_message *m) {
    *m = (struct ue_message){.type =
                                 arbitrary_spoil(rng) ? (uint8_t)rng_next(rng) : types[rng_below(rng, sizeof types)]};
    unsigned dropped = rng_chance(rng, 10) ? (unsigned)rng_below(rng, 3) : 0;
    unsigned declared = (unsigned)(ue_message_params(x, m->type) < 0 ? 0 : ue_message_params(x, m->type));
    unsigned wanted = declared > dropped ? declared - dropped : 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && m->param_count < wanted; i++) {
        if (rows[i].type == m->type && exists(x, rows[i].kind)) {
            arbitrary_param(rng, x, rows[i].kind, m, &m->params[m->param_count++]);
        }
    }
    if (arbitrary_spoil(rng) && m->param_count < UE_MESSAGE_PARAMS_MAX) {
        m->param_count++; /* more than declared, or an omitted one, which is empty */
    }
}
