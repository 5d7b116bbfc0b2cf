/* SPDX-License-Identifier: MIT */
#include <uerudp/inspect.h>

#include "tools/endpoint/core/connection.h"

struct row {
    struct ue_fact fact;
    int64_t (*of_connection)(const struct ue_conn *c);
    int64_t (*of_lane)(const struct ue_lane *lane);
    int64_t (*of_channel)(const struct ue_channel *channel);
};

static int64_t slots_of(const struct ue_reorder *reorder) {
    int64_t slots = 0;
    for (uint32_t i = 0; ue_reorder_exists(reorder) && i < UE_REORDER_SLOTS; i++) {
        slots |= (int64_t)(reorder->slots[(reorder->start + i) % UE_REORDER_SLOTS] != NULL) << i;
    }
    return slots;
}

/* One function for each fact. */
#define UE_FACT(id, form, value, sentence)                                                                             \
    static int64_t fact_##id(const struct ue_conn *c) {                                                                \
        return (int64_t)(value);                                                                                       \
    }
#define UE_LANE_FACT(id, form, value, sentence)                                                                        \
    static int64_t fact_##id(const struct ue_lane *lane) {                                                             \
        return (int64_t)(value);                                                                                       \
    }
#define UE_CHANNEL_FACT(id, form, value, sentence)                                                                     \
    static int64_t fact_##id(const struct ue_channel *channel) {                                                       \
        return (int64_t)(value);                                                                                       \
    }
#include "tools/endpoint/core/inspect.def"
#undef UE_FACT
#undef UE_LANE_FACT
#undef UE_CHANNEL_FACT

static const struct row rows[] = {
#define UE_FACT(id, form, value, sentence) {.fact = {#id, sentence, UE_FACT_##form, false}, .of_connection = fact_##id},
#define UE_LANE_FACT(id, form, value, sentence) {.fact = {#id, sentence, UE_FACT_##form, true}, .of_lane = fact_##id},
#define UE_CHANNEL_FACT(id, form, value, sentence)                                                                     \
    {.fact = {#id, sentence, UE_FACT_##form, true}, .of_channel = fact_##id},
#include "tools/endpoint/core/inspect.def"
#undef UE_FACT
#undef UE_LANE_FACT
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
    const struct ue_lane *lane = ue_lane_find(&c->lanes, channel);
    if (lane == NULL || (row->of_channel != NULL && lane->channel == NULL)) {
        return false;
    }
    *value = row->of_lane != NULL ? row->of_lane(lane) : row->of_channel(lane->channel);
    return true;
}
