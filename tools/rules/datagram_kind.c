/* SPDX-License-Identifier: MIT */
#include "tools/rules/datagram_kind.h"

#include <string.h>

#include "tools/cli/suggestion.h"

/* In the order of the mask bits. */
static const char *const names[] = {
    "handshake", "packet",     "empty",   "ack",     "bunch",  "control",   "open", "close",
    "reliable",  "unreliable", "partial", "exports", "opaque", "malformed", "data",
};

#define NAMES (sizeof names / sizeof *names)

static bool add_one(const char *name, size_t length, uint32_t *kinds) {
    for (size_t i = 0; i < NAMES; i++) {
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) {
            *kinds |= 1u << i;
            return true;
        }
    }
    return false;
}

bool datagram_kinds_parse(const char *list, uint32_t *kinds) {
    for (;;) {
        size_t length = strcspn(list, ",");
        if (!add_one(list, length, kinds)) {
            return false;
        }
        if (list[length] == '\0') {
            return true;
        }
        list += length + 1;
    }
}

/* "; kinds are A, B and C" */
static char *list_of_names(void) {
    GString *text = g_string_new("; kinds are ");
    for (size_t i = 0; i < NAMES; i++) {
        g_string_append_printf(text, "%s%s", i == 0 ? "" : i + 1 == NAMES ? " and " : ", ", names[i]);
    }
    return g_string_free(text, FALSE);
}

char *datagram_kinds_error(const char *list) {
    g_autoptr(GPtrArray) known = g_ptr_array_new();
    g_autofree char *all = list_of_names();
    uint32_t kinds = 0;
    size_t length = strcspn(list, ",");
    for (; list[length] == ',' && add_one(list, length, &kinds); length = strcspn(list, ",")) {
        list += length + 1;
    }
    for (size_t i = 0; i < NAMES; i++) {
        g_ptr_array_add(known, (char *)names[i]);
    }
    g_autofree char *word = g_strndup(list, length);
    g_autofree char *hint = suggestion_text(word, known, all);
    return g_strdup_printf("unknown kind '%s'%s", word, hint);
}

uint32_t datagram_kinds_of_item(const struct ue_item *item) {
    if (item->is_ack) {
        return DATAGRAM_KIND_ACK;
    }
    const struct ue_bunch *b = &item->bunch;
    uint32_t kinds = DATAGRAM_KIND_BUNCH | (b->reliable ? DATAGRAM_KIND_RELIABLE : DATAGRAM_KIND_UNRELIABLE);
    kinds |= b->channel == 0 ? DATAGRAM_KIND_CONTROL : 0;
    kinds |= (b->open ? DATAGRAM_KIND_OPEN : 0) | (b->close ? DATAGRAM_KIND_CLOSE : 0);
    return kinds | (b->partial ? DATAGRAM_KIND_PARTIAL : 0) | (b->has_exports ? DATAGRAM_KIND_EXPORTS : 0);
}

uint32_t datagram_kinds_of_datagram(const struct ue_decode_result *result, uint32_t items) {
    bool is_malformed = result->fault.status != UE_OK;
    uint32_t kinds = is_malformed ? DATAGRAM_KIND_MALFORMED : 0;
    if (result->is_handshake) {
        return kinds | DATAGRAM_KIND_HANDSHAKE;
    }
    bool is_empty = (items & DATAGRAM_KIND_BUNCH) == 0 && !is_malformed && !result->is_opaque;
    kinds |= DATAGRAM_KIND_PACKET | (result->is_opaque ? DATAGRAM_KIND_OPAQUE : 0);
    return kinds | (is_empty ? DATAGRAM_KIND_EMPTY : 0);
}
