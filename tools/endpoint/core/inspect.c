/* SPDX-License-Identifier: MIT */
#include <uerudp/inspect.h>

#include "tools/endpoint/core/connection.h"

struct row {
    struct ue_fact fact;
    int64_t (*of_connection)(const struct ue_conn *c);
    int64_t (*of_entry)(const struct ue_channel_entry *entry);
    int64_t (*of_channel)(const struct ue_channel *channel);
};

static int64_t slots_of(const struct ue_order_cache *reorder) {
    int64_t slots = 0;
    for (uint32_t i = 0; ue_order_cache_exists(reorder) && i < UE_ORDER_CACHE_SLOTS; i++) {
        slots |= (int64_t)(reorder->slots[(reorder->start + i) % UE_ORDER_CACHE_SLOTS] != NULL) << i;
    }
    return slots;
}

/* One function for each fact. */
#define UE_FACT(id, form, value, sentence)                                                                             \
    static int64_t fact_##id(const struct ue_conn *c) {                                                                \
        return (int64_t)(value);                                                                                       \
    }
#define UE_ENTRY_FACT(id, form, value, sentence)                                                                       \
    static int64_t fact_##id(const struct ue_channel_entry *entry) {                                                   \
        return (int64_t)(value);                                                                                       \
    }
#define UE_CHANNEL_FACT(id, form, value, sentence)                                                                     \
    static int64_t fact_##id(const struct ue_channel *channel) {                                                       \
        return (int64_t)(value);                                                                                       \
    }
#include "tools/endpoint/core/inspect.def"
#undef UE_FACT
#undef UE_ENTRY_FACT
#undef UE_CHANNEL_FACT

static const struct row rows[] = {
#define UE_FACT(id, form, value, sentence) {.fact = {#id, sentence, UE_FACT_##form, false}, .of_connection = fact_##id},
#define UE_ENTRY_FACT(id, form, value, sentence) {.fact = {#id, sentence, UE_FACT_##form, true}, .of_entry = fact_##id},
#define UE_CHANNEL_FACT(id, form, value, sentence)                                                                     \
    {.fact = {#id, sentence, UE_FACT_##form, true}, .of_channel = fact_##id},
#include "tools/endpoint/core/inspect.def"
#undef UE_FACT
#undef UE_ENTRY_FACT
#undef UE_CHANNEL_FACT
};

const struct ue_fact *ue_fact_at(size_t index) {
    return index < sizeof rows / sizeof *rows ? &rows[index].fact : NULL;
}

const struct ue_fact *ue_fact_find(const char *name, size_t length) {
    const struct ue_fact *fact;
    for (size_t i = 0; (fact = ue_fact_at(i)) != NULL; i++) {
        if (strlen(fact->name) == length && memcmp(fact->name, name, length) == 0) {
            return fact;
        }
    }
    return NULL;
}

bool ue_conn_inspect(const struct ue_conn *c, const struct ue_fact *fact, uint32_t channel, int64_t *value) {
    const struct row *row = (const struct row *)fact; /* its first member */
    if (row->of_connection != NULL) {
        *value = row->of_connection(c);
        return true;
    }
    const struct ue_channel_entry *entry = ue_channel_entry_find(&c->channels, channel);
    if (entry != NULL && row->of_entry != NULL) {
        *value = row->of_entry(entry);
        return true;
    }
    if (entry != NULL && entry->channel != NULL && row->of_channel != NULL) {
        *value = row->of_channel(entry->channel);
        return true;
    }
    return false;
}

enum ue_status ue_conn_assume_open(struct ue_conn *c, enum ue_channel_kind kind, uint32_t channel, uint32_t name_index,
                                   bool is_opener) {
    struct ue_channel_entry *entry = ue_channel_entry_get(&c->channels, channel);
    if (entry == NULL) {
        return UE_E_FULL;
    }
    struct ue_channel *made = entry->channel != NULL ? entry->channel : ue_channel_new(&c->channels, entry, kind);
    if (made == NULL) {
        return UE_E_FULL;
    }
    made->name_index = name_index;
    made->opened_locally = is_opener;
    made->open_sent = is_opener;
    made->open_acked = true;
    made->has_opened = true;
    return UE_OK;
}

void ue_conn_assume_heard(struct ue_conn *c) {
    struct ue_channel_entry *entry = ue_channel_entry_find(&c->channels, 0);
    entry->in_reliable += (int32_t)c->common.context.ch_seq_bound; /* on the wire the same number */
}
